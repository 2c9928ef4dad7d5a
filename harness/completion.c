/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * completion.c - podbench --complete WORD...: the words that may follow, from the table of commands and their options.
 */
#include "harness/harness.h"
#include <ctype.h>

/* The list (podbench list) of names that a command takes; NULL if it takes files. */
static const char *names_taken(const struct command *c)
{
    static const char *const lists[] = { "machines", "frameworks", "workloads" };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strncmp(lists[i], c->name, strlen(lists[i]) - 1) == 0)
            return lists[i];
    return strncmp(c->arguments, "RECIPE", strlen("RECIPE")) == 0 || text_is(c->arguments, "A B") ? "recipes" : NULL;
}

/* The option whose value is being typed. Bash makes "=" a word of its own. */
static const char *option_asked(const char *const *words, size_t n)
{
    size_t i = n - 1;
    if (strncmp(words[i], "--", 2) == 0 && strchr(words[i], '='))
        return words[i];
    for (i -= !text_is(words[i], "="); i > 0 && text_is(words[i], "="); i--)
        ;
    return words[i];
}

static bool takes_keys(const char *option)
{
    return setting_is_of(option, "--set") || setting_is_of(option, "--over") || setting_is_of(option, "--zip")
        || text_is(option, "--set") || text_is(option, "--over") || text_is(option, "--zip");
}

/* Offers all keys, each after the first n_before characters of the word that is being typed. */
static void offer_keys(const char *before, size_t n_before, struct arena *a)
{
    size_t n;
    const char **keys = recipe_setting_keys(&n, a);
    for (size_t i = 0; i < n; i++)
        printf("%.*s%s=\n", (int)n_before, before, keys[i]);
}

/* Offers the words of a list "a|b|C [D]", except those in capitals, which stand for values. */
static void offer_words(const char *list, const char *before, size_t n_before)
{
    for (size_t n; *list && *list != ' '; list += n + (list[n] == '|')) {
        n = strcspn(list, "| ");
        if (islower((unsigned char)*list))
            printf("%.*s%.*s\n", (int)n_before, before, (int)n, list);
    }
}

/* Offers the known values of an option; false if the command has no such option. */
static bool offer_values(const struct command *c, const char *option, const char *word, struct arena *a)
{
    size_t n_name = strcspn(option, "="), n_before = option == word ? n_name + 1 : 0;
    const char *name = arena_printf(a, "%.*s", (int)n_name, option);
    struct option_view v;
    for (size_t i = 0; option_of(&v, c, i, a); i++) {
        if (!v.name || !v.argument || !text_is(name, arena_printf(a, "--%s", v.name)))
            continue;
        for (int k = 0; text_is(v.name, "format") && k < N_OUTPUT_FORMATS; k++)
            if (c->formats & FORMAT_BIT(k))
                offer_words(format_names[k], word, n_before);
        offer_words(v.argument, word, n_before);
        return true;
    }
    return false;
}

const char *completion_offer(const char *const *words, size_t n)
{
    struct arena a = {0};
    struct option_view v;
    const struct command *c = n > 1 ? command_find(words[0]) : NULL;
    const char *list = NULL, *word = n ? words[n - 1] : "", *option = c ? option_asked(words, n) : "";
    for (size_t i = 0; n < 2 && i < n_commands; i++)
        printf("%s\t%s\n", commands[i].name, commands[i].summary);
    if (takes_keys(option))
        offer_keys(word, option == word ? strcspn(word, "=") + 1 : 0, &a);
    else if (c && offer_values(c, option, word, &a))
        ;
    else if (c && *word != '-' && n == 2 && strchr(c->arguments, '|'))
        offer_words(c->arguments, "", 0);
    else if (c && *word != '-')
        list = names_taken(c);
    else
        for (size_t i = 0; c && option_of(&v, c, i, &a); i++)
            if (v.name)
                printf("--%s%s\t%s\n", v.name, v.argument ? "=" : "", v.help);
    arena_free(&a);
    return list;
}
