/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * progress.c - harness/progress.c for the page: messages of long work go to the page at once.
 *
 * Nothing interrupts the work: the page ends its worker, and keeps the last message.
 */
#include "harness/harness.h"
#include <emscripten.h>

EM_JS(void, page_tell, (const char *text), { Module.onTold(UTF8ToString(text)); })

#define EVERY_S 0.2                     /* seconds between two messages */

static double now_s(void)
{
    return emscripten_get_now() / 1000;
}

void interrupts_catch(void)
{
}

bool was_interrupted(void)
{
    return false;
}

bool interrupts_release(void)
{
    return false;
}

void progress_start(struct progress *p, FILE *log, const char *what)
{
    *p = (struct progress){ .log = log, .what = what, .started_s = now_s() };
}

void progress_tell(struct progress *p, const char *text)
{
    if (now_s() - p->told_s < EVERY_S)
        return;
    p->told_s = now_s();
    page_tell(text);
}

void progress_report(void *progress, const char *what, size_t done, size_t of)
{
    struct progress *p = progress;
    char text[120];
    if (!what)
        return;
    snprintf(text, sizeof text, of ? "%.60s: %zu of %zu" : "%.60s: %zu", *what ? what : p->what, done, of);
    progress_tell(p, text);
}

double progress_seconds(const struct progress *p)
{
    return now_s() - p->started_s;
}

void progress_end(struct progress *p)
{
    (void)p;
}
