#!/bin/sh
# Installs the Holdoff agent on a Linux host with systemd, or brings it up to date. Safe to run again: what is in order
# is left alone, and a download that is not what was promised changes nothing. Reads its orders from the environment:
#
#   HOLDOFF_SOURCE    https:// or s3:// address of agent.mjs (file:// for one that is there already)
#   HOLDOFF_SHA256    its SHA-256
#   HOLDOFF_ENDPOINT  address of the control plane
#   HOLDOFF_REGION    Region to sign for; empty: the one the host is in
#   HOLDOFF_GROUP     group to enrol in; empty: the default group
#   HOLDOFF_DRIVER    what updates the host: bottlerocket or script; empty: as /etc/holdoff/agent.env says
#   HOLDOFF_SCRIPTS   with script: amazon-linux-2023 or ubuntu, for the example in hosts/ next to this script, else the path of
#                     a JSON file that is there already
#   HOLDOFF_UNIT      file with the systemd unit; default: holdoff-agent.service next to this script
set -eu
umask 022

root="${HOLDOFF_INSTALL_ROOT:-}"
say() { echo "Holdoff: $*"; }
die() {
  echo "Holdoff: $*" >&2
  exit 1
}

: "${HOLDOFF_SOURCE:?Holdoff: HOLDOFF_SOURCE, the address of agent.mjs, is not given}"
: "${HOLDOFF_SHA256:?Holdoff: HOLDOFF_SHA256, the checksum of agent.mjs, is not given}"
: "${HOLDOFF_ENDPOINT:?Holdoff: HOLDOFF_ENDPOINT, the address of the control plane, is not given}"
unit="${HOLDOFF_UNIT:-$(dirname "$0")/holdoff-agent.service}"
[ -r "$unit" ] || die "there is no unit file $unit"
for value in "$HOLDOFF_SOURCE" "$HOLDOFF_ENDPOINT" "${HOLDOFF_REGION:-}" "${HOLDOFF_GROUP:-}" "${HOLDOFF_DRIVER:-}" "${HOLDOFF_SCRIPTS:-}"; do
  case "$value" in *[!A-Za-z0-9._~:/?#@%+=,-]*) die "a value has characters that do not belong there: $value" ;; esac
done

driver="${HOLDOFF_DRIVER:-}"
scripts="${HOLDOFF_SCRIPTS:-}"
example=
case "$driver" in "" | bottlerocket | script) ;; *) die "HOLDOFF_DRIVER must be bottlerocket or script, not $driver" ;; esac
case "$scripts" in
  "") [ "$driver" != script ] || die "with driver script, HOLDOFF_SCRIPTS says which: amazon-linux-2023, ubuntu, or the path of a JSON file" ;;
  /*) [ -r "$root$scripts" ] || die "there is no file $scripts on this host" ;;
  amazon-linux-2023 | ubuntu)
    example="$(dirname "$0")/hosts/$scripts.sh"
    [ -r "$example" ] || die "there is no example $example" ;;
  *) die "HOLDOFF_SCRIPTS must be amazon-linux-2023, ubuntu, or an absolute path, not $scripts" ;;
esac

command -v systemctl >/dev/null 2>&1 || die "this host has no systemd; run the agent in a way of its own (docs/agent.md)"
command -v node >/dev/null 2>&1 || die "Node.js 20.19 or later must be installed first; there is no node on the PATH"
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
  die "Node.js 20.19 or later is needed; this host has $(node --version)"

mkdir -p "$root/opt/holdoff" "$root/etc/holdoff" "$root/etc/systemd/system"
fresh="$(mktemp "$root/opt/holdoff/.agent.XXXXXX")"
trap 'rm -f "$fresh" "$fresh.env" "$fresh.unit" "$fresh.host" "$fresh.json"' EXIT

case "$HOLDOFF_SOURCE" in
  https://*) curl --fail --silent --show-error --location --proto '=https' --max-time 300 --output "$fresh" "$HOLDOFF_SOURCE" ||
    die "$HOLDOFF_SOURCE could not be fetched; nothing was changed" ;;
  s3://*) command -v aws >/dev/null 2>&1 || die "$HOLDOFF_SOURCE needs the AWS CLI, and this host has none; use https://"
    aws s3 cp --only-show-errors "$HOLDOFF_SOURCE" "$fresh" ||
    die "$HOLDOFF_SOURCE could not be fetched (does the node's role have s3:GetObject?); nothing was changed" ;;
  file://*) cp "${HOLDOFF_SOURCE#file://}" "$fresh" || die "$HOLDOFF_SOURCE could not be read; nothing was changed" ;;
  *) die "$HOLDOFF_SOURCE must begin with https://, s3:// or file://" ;;
esac
sum="$(sha256sum "$fresh" | cut -d ' ' -f 1)"
[ "$sum" = "$HOLDOFF_SHA256" ] ||
  die "$HOLDOFF_SOURCE has the SHA-256 $sum where $HOLDOFF_SHA256 was promised; nothing was changed"

{
  echo "HOLDOFF_ENDPOINT=$HOLDOFF_ENDPOINT"
  [ -z "${HOLDOFF_REGION:-}" ] || echo "HOLDOFF_REGION=$HOLDOFF_REGION"
  [ -z "${HOLDOFF_GROUP:-}" ] || echo "HOLDOFF_GROUP=$HOLDOFF_GROUP"
  [ -z "$driver" ] || echo "HOLDOFF_DRIVER=$driver"
  case "$scripts" in
    "") ;;
    /*) echo "HOLDOFF_SCRIPTS=$scripts" ;;
    *) echo "HOLDOFF_SCRIPTS=/opt/holdoff/scripts.json" ;;
  esac
} >"$fresh.env"
cp "$unit" "$fresh.unit"

# Puts a file in its place in one step. That the service must be restarted is on disk before, lest a run that is cut short
# leaves the old agent running.
pending="$root/opt/holdoff/.restart"
place() {
  if cmp -s "$1" "$2"; then rm -f "$1"; else
    chmod "$3" "$1"
    : >"$pending"
    mv -f "$1" "$2"
    say "wrote ${2#"$root"}"
  fi
}
if [ -n "$example" ]; then
  cp "$example" "$fresh.host"
  # One program, asked with one word for each thing it does.
  separator='{'
  for word in version check prepare activate deactivate reboot; do
    printf '%s "%s": ["/opt/holdoff/host.sh", "%s"]' "$separator" "$word" "$word"
    separator=','
  done >"$fresh.json"
  echo ' }' >>"$fresh.json"
  place "$fresh.host" "$root/opt/holdoff/host.sh" 0755
  place "$fresh.json" "$root/opt/holdoff/scripts.json" 0644
fi
place "$fresh" "$root/opt/holdoff/agent.mjs" 0755
place "$fresh.env" "$root/etc/holdoff/managed.env" 0644
place "$fresh.unit" "$root/etc/systemd/system/holdoff-agent.service" 0644

systemctl daemon-reload
systemctl enable --quiet holdoff-agent.service
if [ -e "$pending" ]; then
  systemctl restart holdoff-agent.service
  rm -f "$pending"
else
  systemctl start holdoff-agent.service
fi
# A wrong setting ends the agent at once, a host that cannot say who it is after 10 s: then its own words are the answer.
sleep "${HOLDOFF_SETTLE_SECONDS:-12}"
if ! systemctl is-active --quiet holdoff-agent.service; then
  journalctl --unit holdoff-agent.service --lines 5 --no-pager >&2 || true
  die "the agent was installed and does not run; journalctl -u holdoff-agent says why"
fi
say "the agent runs (SHA-256 $sum); it enrols with its first report"
