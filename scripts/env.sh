# env.sh is read by the other scripts: where the tools are.
if ! command -v go >/dev/null 2>&1; then
	PATH=$PATH:/usr/local/go/bin
fi
tools=$PWD/.bin
PATH=$tools:$PATH
export PATH CGO_ENABLED=1

# step WORDS: a line between the parts of a long run, with the time since its start.
started=${started:-$(date +%s)}
export started
step() {
	now=$(date +%s)
	printf '== %02d:%02d %s\n' $(((now - started) / 60)) $(((now - started) % 60)) "$*"
}
