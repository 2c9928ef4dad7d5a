# killed.sh - what the tests of killed programs source, after tap.sh: a command is killed before each system call that changes a file.
if ! strace -f -qq --seccomp-bpf -e trace=write -o /dev/null true 2>/dev/null; then
    echo "1..0 # SKIP strace cannot trace here"
    exit 0
fi
changing=write,pwrite64,writev,pwritev,pwritev2,sendfile,copy_file_range,splice,fallocate,truncate,ftruncate,rename,renameat,renameat2
changing=$changing,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,fsync,fdatasync,msync,open,openat,creat

# EVERY COMMAND... - a line "CALL N" for each EVERY'th call that changes something, talk apart: the Nth CALL of its process, as strace counts them.
# KILL_EVERY=1 takes all.
changing_calls() {
    every=${KILL_EVERY:-$1}
    shift
    strace -f -qq --seccomp-bpf -o "$work/calls" -e "trace=$changing" "$@" >"$work/out" 2>"$work/err" </dev/null
    awk -v every="$every" '$2 ~ /^[a-z]/ {
        call = $2
        sub(/\(.*/, "", call)
        n = ++count[$1, call]
        changes = !/ = -1 E/ && (call !~ /^open/ || /O_CREAT|O_TRUNC/) && !/ write\(2, /
        if (changes && !seen[call, n]++ && n_calls++ % every == 0) print call, n
    }' "$work/calls"
}
# CALL N COMMAND... - status 0: it was killed there. (A filter of system calls would be faster, but signals are not injected with it.)
killed_at() {
    killed_by="inject=$1:signal=KILL:when=$2"
    killed_in="trace=$1"
    shift 2
    strace -f -qq -o "$work/calls" -e "$killed_in" -e "$killed_by" "$@" >"$work/out" 2>"$work/err" </dev/null
    grep -q 'killed by SIGKILL' "$work/calls"
}
# CALL N ERROR COMMAND... - its Nth CALL fails with this error instead. Status: that of the command.
failed_at() {
    failing="inject=$1:error=$3:when=$2"
    failing_in="trace=$1"
    shift 3
    strace -f -qq --seccomp-bpf -o "$work/calls" -e "$failing_in" -e "$failing" "$@" >"$work/out" 2>"$work/err" </dev/null
}
