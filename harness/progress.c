/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * progress.c - the progress of long work, as one line on the terminal that is overwritten each time and erased at the end.
 */
#include "harness/harness.h"
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* set by a signal handler, which may set nothing else */
static volatile sig_atomic_t interrupted;

static void interrupts_note(int signal)
{
    (void)signal;
    interrupted = 1;
}

void interrupts_catch(void)
{
    interrupted = 0;
    sigaction(SIGINT, &(struct sigaction){ .sa_handler = interrupts_note, .sa_flags = (int)SA_RESETHAND }, NULL);
}

bool was_interrupted(void)
{
    return interrupted != 0;
}

bool interrupts_release(void)
{
    sigaction(SIGINT, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
    return was_interrupted();
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_start(struct progress *p, FILE *log, const char *what)
{
    *p = (struct progress){ .log = log, .what = what, .started_s = now_s() };
}

/* True if the line should be shown: at most five times a second, from two seconds after the start. */
static bool is_due(struct progress *p, double now)
{
    if (now - p->started_s < 2 || now - p->shown_s < 0.2 || !takes_escapes(p->log))
        return false;
    p->shown_s = now;
    return true;
}

void progress_report(void *progress, const char *what, size_t done, size_t of)
{
    struct progress *p = progress;
    double now = now_s();
    if (!what)
        progress_end(p);
    if (!what || !is_due(p, now))
        return;
    fprintf(p->log, "\rpodbench: %s: %zu", *what ? what : p->what, done);
    if (of)
        fprintf(p->log, " of %zu", of);
    if (!*what && done)
        fprintf(p->log, ", %.0f s left", (now - p->started_s) / (double)done * (double)(of - done));
    fputs(" \033[K", p->log);
}

double progress_seconds(const struct progress *p)
{
    return now_s() - p->started_s;
}

void progress_tell(struct progress *p, const char *text)
{
    enum { EVERY_S = 15 };              /* seconds between lines if stderr is no terminal */
    double now = now_s();
    if (takes_escapes(p->log)) {
        if (is_due(p, now))
            fprintf(p->log, "\rpodbench: %s \033[K", text);
    } else if (now - fmax(p->started_s, p->told_s) >= EVERY_S) {
        p->told_s = now;
        fprintf(p->log, "podbench: %s\n", text);
    }
}

void progress_end(struct progress *p)
{
    if (p->shown_s > 0)
        fprintf(p->log, "\r\033[K");
    p->shown_s = 0;
}
