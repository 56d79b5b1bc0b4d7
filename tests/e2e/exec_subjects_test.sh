#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# needs: root netns bwrap nsenter setpriv python3 node npm git gcc make tmux gdb strace bash
# What ordinary subjects need goes on working behind bwrap and cell-exec, as a user that is in no
# password file: each program is really run and has to show its result.
if [ -z "${CELL_TEST_INSIDE:-}" ]; then
	CELL_TEST_INSIDE=1 exec setpriv --pdeathsig KILL \
		unshare --mount --pid --fork --kill-child=KILL --mount-proc "$0" "$@"
fi
. "$(dirname "$0")/../lib/cell_test.sh"

uid=777778
home=/mnt/home
PATH=/mnt/bin:$PATH

test_file_setup() {
	mount -t tmpfs -o mode=0755 tmpfs /mnt && mkdir /mnt/bin && mkdir $home || return 1
	mount --bind "$CELL_BIN" /mnt/bin && chown $uid:$uid $home || return 1
	cp "$top/tests/lib/door.py" "$top/tests/lib/registry.py" /mnt
	netns_new && cell=$netns_pid && write_subject
}

# subject COMMAND...: as run_trial starts it; $options are those of cell-exec. A program of its own,
# because a terminal's other end starts it too. What another user needs to write to is 1777: bwrap
# makes /tmp and /dev/shm root's.
options="--user $uid:$uid"
export options
write_subject() {
	cat >/mnt/bin-subject <<EOS
#!/bin/sh
exec nsenter -n -t $cell -- env -i PATH="$PATH" HOME=$home LANG=C.UTF-8 TERM=xterm SHELL=/bin/sh \\
	bwrap --unshare-pid --unshare-ipc --unshare-uts --cap-add ALL --die-with-parent \\
	--ro-bind / / --perms 1777 --tmpfs /tmp --tmpfs /run --proc /proc --dev /dev \\
	--perms 1777 --tmpfs /dev/shm --ro-bind /proc/sys /proc/sys --bind $home $home --chdir $home \\
	-- cell-exec \$options -- "\$@"
EOS
	chmod 0755 /mnt/bin-subject
}
subject() { /mnt/bin-subject "$@"; }

says() { # TEXT COMMAND... : it succeeds, and TEXT is all it says
	says_text=$1
	shift
	expect 0 "$@"
	assertEquals "stdout of: $*" "$says_text" "$out"
}

# Guards all below: this really is the confined subject.
test_subject_is_confined() {
	expect 1 subject /mnt/door.py io_uring
	assertEquals EPERM "$out"
	says 0000000000000000 subject sed -n 's/^CapBnd:.//p' /proc/self/status
}

test_shell() {
	cat >$home/script <<'EOS'
trap 'echo trapped' USR1
rm -f fifo; mkfifo fifo && { echo through >fifo & } && cat fifo && wait
kill -USR1 $$
seq 1000 | sort -rn | head -n 1
(exit 7) || echo "status $?"
sleep 100 & kill $! && wait $! || echo "signal $?"
ulimit -n >/dev/null && test -t 0 || echo 'no terminal'
cat <<END
here $(id -u)
END
EOS
	says "through
trapped
1000
status 7
signal 143
no terminal
here $uid" subject sh script </dev/null
	says "through
trapped
1000
status 7
signal 143
no terminal
here $uid" subject bash script </dev/null
}

test_python() {
	cat >$home/python.py <<'EOS'
import asyncio, concurrent.futures, multiprocessing, os, signal, socket, sqlite3, ssl
import subprocess, tempfile, threading, time

def square(n):
    return n * n

async def talk():
    async def serve(reader, writer):
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"asyncio\n")
    answer = await reader.readline()
    child = await asyncio.create_subprocess_exec("echo", "child", stdout=subprocess.PIPE)
    said, _ = await child.communicate()
    await asyncio.get_running_loop().run_in_executor(None, time.sleep, 0.01)
    return answer.decode().strip(), said.decode().strip()

if __name__ == "__main__":
    total = []
    threads = [threading.Thread(target=total.append, args=(i,)) for i in range(50)]
    for t in threads: t.start()
    for t in threads: t.join()
    print("threads", sum(total))
    print("subprocess", subprocess.run(["sh", "-c", "cat; exit 3"], input=b"in", capture_output=True))
    print(*asyncio.run(talk()))
    for method in "fork", "spawn", "forkserver":
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(square, range(5)))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print("pool", sum(pool.map(square, range(10))))
    queue = multiprocessing.Queue(); queue.put("queue"); print(queue.get())
    from multiprocessing import shared_memory
    memory = shared_memory.SharedMemory(create=True, size=16); memory.close(); memory.unlink()
    with tempfile.NamedTemporaryFile() as file: file.write(b"x")
    print("sqlite", sqlite3.connect("d.sqlite").execute("select 6 * 7").fetchone()[0])
    a, b = socket.socketpair(); a.send(b"pair"); print(b.recv(4).decode())
    print("tls", ssl.create_default_context() is not None)
    print("pidfd", os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1]))
    signal.setitimer(signal.ITIMER_REAL, 0.01); signal.signal(signal.SIGALRM, lambda *_: print("alarm"))
    time.sleep(0.05)
EOS
	says "threads 1225
subprocess CompletedProcess(args=['sh', '-c', 'cat; exit 3'], returncode=3, stdout=b'in', stderr=b'')
ASYNCIO child
fork [0, 1, 4, 9, 16]
spawn [0, 1, 4, 9, 16]
forkserver [0, 1, 4, 9, 16]
pool 285
queue
sqlite 42
pair
tls True
pidfd 0
alarm" subject python3 python.py
	assertEquals '' "$err"
	# pip and venv work from wheels at hand; here without any index.
	expect 0 subject python3 -c 'import venv; venv.create("v")'
	says 'in venv' subject v/bin/python -c 'print("in venv")'
}

test_node() {
	cat >$home/node.js <<'EOS'
const http = require('http'), fs = require('fs'), os = require('os'), crypto = require('crypto');
const { Worker, isMainThread, parentPort } = require('worker_threads');
const { execFileSync, fork } = require('child_process');
if (process.argv[2] === 'child') { process.send('forked'); process.disconnect(); }
else if (!isMainThread) parentPort.postMessage('worker');
else (async () => {
	console.log(execFileSync('echo', ['exec']).toString().trim());
	await new Promise(done => new Worker(__filename).on('message', m => { console.log(m); done(); }));
	await new Promise(done => fork(__filename, ['child']).on('message', m => { console.log(m); done(); }));
	const server = http.createServer((q, s) => s.end('http')).listen(0, '127.0.0.1');
	await new Promise(done => server.on('listening', done));
	console.log(await (await fetch(`http://127.0.0.1:${server.address().port}/`)).text());
	server.close();
	await fs.promises.writeFile('n.txt', 'file');
	console.log(await fs.promises.readFile('n.txt', 'utf8'));
	fs.watch('.').close();
	console.log(crypto.createHash('sha256').update('x').digest('hex').slice(0, 8));
	console.log(Object.keys(os.networkInterfaces()).join());
})();
EOS
	says 'exec
worker
forked
http
file
2d711642
lo' subject node node.js
	# The way that uses io_uring where it can: it has to do without.
	says 'exec
worker
forked
http
file
2d711642
lo' subject env UV_USE_IO_URING=1 node node.js
}

test_git_clone_over_http() {
	cat >$home/git.sh <<'EOS'
set -e
export GIT_CONFIG_GLOBAL=$HOME/gitconfig
git config --global user.name subject
git config --global user.email subject@example.com
git config --global init.defaultBranch main
git init -q served && cd served
seq 2000 >numbers && git add . && git commit -qm first
git repack -adq && git update-server-info && cd ..
python3 -m http.server --bind 127.0.0.1 --directory served/.git 8001 >/dev/null 2>&1 &
server=$!
until git ls-remote http://127.0.0.1:8001/ >/dev/null 2>&1; do sleep 0.05; done
git clone -q http://127.0.0.1:8001/ cloned
kill $server
cd cloned && git log --format=%s && tail -n 1 numbers && git fsck --no-progress
EOS
	says 'first
2000' subject sh git.sh
}

test_npm_install_from_a_registry() {
	cat >$home/npm.sh <<'EOS'
set -e
mkdir -p package project
printf '{"name":"cell-little","version":"1.2.3","main":"i.js","scripts":{"postinstall":"echo ran >../../ran"}}' >package/package.json
echo 'module.exports = "required";' >package/i.js
tar -czf little.tgz package
/mnt/registry.py 8002 cell-little 1.2.3 little.tgz &
server=$!
cd project
echo '{"name":"p","version":"1.0.0"}' >package.json
npm install --registry http://127.0.0.1:8002/ --no-audit --no-fund --no-update-notifier cell-little >../npm.log 2>&1
kill $server
node -e 'console.log(require("cell-little"))'
cat ran
EOS
	says 'required
ran' subject sh npm.sh
	[ "$out" != '' ] || cat $home/npm.log
}

test_gcc_and_make() {
	mkdir -p $home/c && cd $home/c || return
	cat >a.c <<'EOS'
#include <pthread.h>
#include <stdio.h>
const char *word(void);
static void *run(void *p) { return p; }
int main(void)
{
	pthread_t t;
	void *r;
	if (pthread_create(&t, NULL, run, "thread") || pthread_join(t, &r)) return 1;
	return printf("%s %s\n", word(), (char *)r) < 0;
}
EOS
	echo 'const char *word(void) { return "built"; }' >b.c
	printf 'p: a.o b.o\n\t$(CC) -pthread -o $@ $^\n' >Makefile
	cd "$top" || return
	chown -R $uid $home/c
	says 'built thread' subject sh -c 'cd c && make -s -j2 && ./p'
	says 'built thread' subject sh -c 'cd c && gcc -static -fsanitize=undefined -o q a.c b.c -pthread 2>/dev/null ||
		gcc -static -o q a.c b.c; ./q'
}

test_tmux_with_a_terminal() {
	cat >$home/tmux.sh <<'EOS'
set -e
tmux -f /dev/null -S /tmp/t new-session -d -x 80 -y 24 sh
tmux -S /tmp/t send-keys 'tty; echo $((40 + 2)) in $(id -u)' Enter
for i in $(seq 400); do
	tmux -S /tmp/t capture-pane -p | grep -q '^42 in' && break
	sleep 0.05
done
tmux -S /tmp/t capture-pane -p | grep -o -e '/dev/pts/[0-9]*' -e '^42 in.*'
tmux -S /tmp/t kill-server
EOS
	expect 0 subject sh tmux.sh
	assertContains "$out" /dev/pts/
	assertContains "$out" "42 in $uid"
}

test_gdb_on_its_own_child() {
	cat >$home/g.c <<'EOS'
int deep(int n) { return n * 3; }
int main(void) { return deep(14) - 42; }
EOS
	expect 0 subject sh -c 'gcc -g -O0 -o g g.c && gdb -batch -nx -ex "break deep" -ex run \
		-ex "print n * 3" -ex backtrace -ex "set var n = 14" -ex continue ./g 2>&1'
	assertContains "$out" '$1 = 42'
	assertContains "$out" 'in main'
	assertContains "$out" 'exited normally'
	# A process of the subject's that is running already.
	expect 0 subject sh -c 'sleep 60 & gdb -batch -nx -p $! -ex "info inferiors" 2>&1; kill $!'
	assertContains "$out" process
	assertNotContains "$out" 'not permitted'
}

test_strace_of_its_own_child() {
	expect 0 subject strace -f -o t.txt -e trace=execve,write,clone,clone3,vfork sh -c 'echo traced | cat'
	assertEquals traced "$out"
	assertTrue 'strings in memory are read' "grep -qF 'write(1, \"traced\\n\", 7)' $home/t.txt"
	assertTrue 'and lists of strings' "grep -qF 'execve(\"/usr/bin/cat\", [\"cat\"]' $home/t.txt"
	expect 0 subject sh -c 'sleep 60 & asleep=$!; strace -p $asleep -o u.txt & tracer=$!
		until [ -s u.txt ]; do sleep 0.05; done; kill $tracer $asleep'
	assertTrue 'attached to a running one' "grep -q -e nanosleep -e restart_syscall $home/u.txt"
}

page='data:text/html,<p id=x></p><script>x.textContent=6*7</script>'
browser() {
	rm -rf $home/profile
	subject timeout 60 chromium --headless --disable-gpu --user-data-dir=$home/profile "$@" \
		--dump-dom "$page"
}
# A browser makes a sandbox of its own out of namespaces: it does without, or is allowed to.
test_browser() {
	command -v chromium >/dev/null || skip 'no chromium'
	isSkipping && return
	expect 0 browser --no-sandbox
	assertContains "$out" '<p id="x">42</p>'
	run browser
	assertNotContains "$out" 42
	assertContains "$err" 'No usable sandbox'
	options="--user $uid:$uid --allow clone --allow unshare"
	expect 0 browser
	assertContains "$out" '<p id="x">42</p>'
	options="--user $uid:$uid"
}

test_looking_at_the_network() {
	expect 0 subject ip -brief address
	assertContains "$out" 127.0.0.1/8
	# ss goes on with /proc where it is refused its own netlink protocol.
	expect 0 subject sh -c 'python3 -m http.server --bind 127.0.0.1 8003 >/dev/null 2>&1 & server=$!
		until ss -ltn 2>/dev/null | grep 8003; do sleep 0.05; done; kill $server'
	assertContains "$out" 127.0.0.1:8003
}

# Repository and cache are plain directories; nothing is asked of the network.
apt_script() {
	cat >$home/apt.sh <<'EOS'
set -e
mkdir -p repo debian/DEBIAN state/lists/partial cache/archives/partial etc
printf 'Package: cell-little\nVersion: 1.2.3\nArchitecture: all\nMaintainer: nobody <n@example.com>\nDescription: little\n' >debian/DEBIAN/control
dpkg-deb --root-owner-group -b debian repo/cell-little_1.2.3_all.deb >/dev/null
cd repo
{
	dpkg-deb -f cell-little_1.2.3_all.deb
	echo "Filename: ./cell-little_1.2.3_all.deb"
	echo "Size: $(stat -c %s cell-little_1.2.3_all.deb)"
	echo "SHA256: $(sha256sum cell-little_1.2.3_all.deb | cut -d' ' -f1)"
	echo
} >Packages
cd ..
: >state/status
echo "deb [trusted=yes] file:$PWD/repo ./" >etc/list
cat >apt.conf <<CONF
Dir::State "$PWD/state"; Dir::State::status "$PWD/state/status";
Dir::Cache "$PWD/cache"; Dir::Etc::sourcelist "$PWD/etc/list"; Dir::Etc::sourceparts "-";
Dir::Etc::main "-"; Dir::Etc::parts "-"; Dir::Etc::trustedparts "-"; Dir::Log "$PWD";
APT::Get::List-Cleanup "0"; Debug::NoLocking "true"; Acquire::Check-Valid-Until "false";
CONF
export APT_CONFIG=$PWD/apt.conf
apt-get update >apt.log 2>&1
apt-get -y --download-only -o Dir::Cache::archives=$PWD/cache/archives install cell-little >>apt.log 2>&1
# A file: repository is used where it lies, so a copy is the sign of another method.
apt-get download -q cell-little >>apt.log 2>&1
dpkg-deb -f "$(find . -maxdepth 1 -name 'cell-little*.deb' | head -n 1)" Version
EOS
}

test_apt_get_download_only() {
	apt_script
	says 1.2.3 subject sh apt.sh
	[ "$out" = 1.2.3 ] || cat $home/apt.log
	(cd "$home" && rm -rf repo debian state cache etc)
	rm -f "$home"/cell-little*
}

# root's tasks under --caps keep: apt changes to its own user for the download.
test_root_that_keeps_its_capabilities() {
	apt_script
	options='--caps keep'
	says 1.2.3 subject sh apt.sh
	assertNotContains 'the change of user worked' "$(cat $home/apt.log)" 'setgroups'
	says '1000 1234
daemon' subject sh -c 'touch o && chown 1000:1234 o && stat -c "%u %g" o && su -s /bin/sh daemon -c "id -un"'
	# And with nothing kept they cannot: so it was the kept ones.
	options='--caps none'
	expect 1 subject sh -c 'touch p; chown 1000:1234 p'
	options="--user $uid:$uid"
}

test_interactive_shell_has_job_control() {
	cat >/mnt/interactive.py <<'EOS'
"""Types at an interactive program on a terminal: each argument pair is what to wait for and type."""
import os, pty, re, select, sys, time
count = int(sys.argv[1])
script, command = sys.argv[2:2 + 2 * count], sys.argv[2 + 2 * count:]
child, master = pty.fork()
if child == 0:
    os.execvp(command[0], command)
said = ""
start = 0
end = time.monotonic() + 20
for wanted, typed in zip(script[::2], script[1::2]):
    while not (found := re.search(wanted, said[start:])) and time.monotonic() < end:
        if select.select([master], [], [], 0.2)[0]:
            try:
                said += os.read(master, 4096).decode()
            except OSError:
                break
    if not found:
        print(said, "\nnever seen:", wanted)
        sys.exit(2)
    start += found.end()
    os.write(master, typed.encode().decode("unicode_escape").encode())
while select.select([master], [], [], max(0, end - time.monotonic()))[0]:
    try:
        said += os.read(master, 4096).decode()
    except OSError:
        break
else:
    print(said, "\nnever ended")
    sys.exit(2)
print(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
EOS
	options="--user $uid:$uid --keep-session"
	# What is waited for is said by the program in the foreground, so that the keys reach it and not
	# the shell.
	cat >/mnt/loop <<'EOS'
trap 'echo going on' CONT
echo started
while :; do sleep 0.1; done
EOS
	expect 0 python3 /mnt/interactive.py 5 \
		'ready> ' 'sh /mnt/loop\n' started '\x1a' Stopped 'fg\n' 'going on' '\x03' \
		'ready> ' 'echo still $((1 + 1)); tty; exit\n' \
		/mnt/bin-subject env PS1='ready> ' bash --norc --noprofile -i
	assertContains "$out" 'still 2'
	assertContains "$out" /dev/
	assertNotContains "$out" 'no job control'
	# Without --keep-session the terminal is only a file: no job control, no /dev/tty.
	options="--user $uid:$uid"
	expect 2 python3 /mnt/interactive.py 0 /mnt/bin-subject sh -c ': >/dev/tty'
	assertContains "$out" 'No such device or address'
	options="--user $uid:$uid"
}

. "$CELL_TEST_SHUNIT2"
