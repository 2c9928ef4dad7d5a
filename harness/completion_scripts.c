/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * completion_scripts.c - podbench completion: scripts by which a shell asks the program, with podbench --complete WORD..., for the words that
 * may follow.
 */
#include "harness/harness.h"

int command_completion(const struct options *o, struct session *s, struct err *err)
{
    static const struct { const char *shell, *script; } shells[] = {
        { "bash", "_podbench() {\n"
                  "    local IFS=$'\\n' word=${COMP_WORDS[COMP_CWORD]#=}\n"
                  "    COMPREPLY=($(compgen -W \"$(podbench --complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null | cut -f1)\" -- \"$word\"))\n"
                  "    case ${COMPREPLY[0]-} in *=) compopt -o nospace ;; esac\n"
                  "}\n"
                  "complete -o default -F _podbench podbench\n" },
        { "zsh", "#compdef podbench\n"
                 "local name what end=' '; local -a names shown\n"
                 "podbench --complete \"${(@)words[2,CURRENT]}\" 2>/dev/null | while IFS=$'\\t' read -r name what; do\n"
                 "    names+=$name shown+=\"$name${what:+  -- $what}\"\n"
                 "    [[ $name = \"${words[CURRENT]}\"*= ]] && end=\n"
                 "done\n"
                 "compadd -S \"$end\" -d shown -a names || _files\n" },
        { "fish", "complete -c podbench -a '(podbench --complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'\n" },
    };
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (text_is(o->arguments[0], shells[i].shell)) {
            fputs(shells[i].script, s->out);
            return EXIT_DONE;
        }
    return bad_input(err, "completion: unknown shell '%.60s'; known: bash, zsh, fish", o->arguments[0]);
}
