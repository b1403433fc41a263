#!/bin/sh
# Ubuntu as the script driver drives it (docs/agent.md). A version is an instant of the archive's snapshots, such as
# 20250115T000000Z (snapshot.ubuntu.com): `apt-get --snapshot` pins it, so that every host of a group gets the same packages.
# Which one is next stands in /etc/holdoff/offered-snapshot, put there by whatever promotes versions in your fleet.
#   ubuntu.sh version | check | prepare | activate | deactivate | reboot
set -eu
root="${HOLDOFF_HOST_ROOT:-}"
kept="$root/var/lib/holdoff-host"
pending="$kept/pending"
running="$root/etc/holdoff/running-snapshot"
offered="$root/etc/holdoff/offered-snapshot"
export DEBIAN_FRONTEND=noninteractive

wanted() { : "${HOLDOFF_VERSION:?no version was given}"; }
upgrade() {
  apt-get --quiet --quiet --snapshot "$1" --yes --allow-downgrades \
    -o Dpkg::Options::=--force-confold -o Dpkg::Options::=--force-confdef "$2" dist-upgrade
}

case "${1:-}" in
  version)
    if [ -s "$running" ]; then cat "$running"; else echo 0; fi ;;
  check)
    if [ -n "${HOLDOFF_VERSION_LOCK:-}" ]; then echo "$HOLDOFF_VERSION_LOCK"; exit 0; fi
    if [ -s "$offered" ]; then cat "$offered"; fi ;;
  prepare)
    wanted
    apt-get --quiet --quiet --snapshot "$HOLDOFF_VERSION" update
    upgrade "$HOLDOFF_VERSION" --download-only ;;
  activate)
    wanted
    mkdir -p "$kept"
    echo "$HOLDOFF_VERSION" >"$pending.new"
    mv -f "$pending.new" "$pending" ;;
  deactivate)
    rm -f "$pending" ;;
  reboot)
    if [ -s "$pending" ]; then
      snapshot="$(cat "$pending")"
      upgrade "$snapshot" --no-download
      mkdir -p "$root/etc/holdoff"
      echo "$snapshot" >"$running.new"
      mv -f "$running.new" "$running"
      rm -f "$pending"
    fi
    systemctl reboot ;;
  *)
    echo "usage: $0 version | check | prepare | activate | deactivate | reboot" >&2
    exit 2 ;;
esac
