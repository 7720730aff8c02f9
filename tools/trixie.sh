# Sourced by tools and tests that fetch packages of the release with OTP 27 from the mirror that this machine already uses.
#   trixie_index DIR NAME   makes a package index of our own in DIR; messages begin with NAME. Sets the array `trixie_options` for apt-get.
trixie_index() {
  local dir=$1 name=$2 program mirror keyring sign=
  for program in apt-get dpkg; do
    command -v $program >/dev/null || { echo "$name: needs $program" >&2; return 1; }
  done
  mirror=$(awk '/^URIs:/{print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
  [ -n "$mirror" ] || mirror=$(awk '$1=="deb"{for(i=2;i<=NF;i++) if($i ~ /^https?:/){print $i; exit}}' /etc/apt/sources.list 2>/dev/null || true)
  [ -n "$mirror" ] || { echo "$name: no package mirror in this machine's apt configuration" >&2; return 1; }
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  [ ! -f $keyring ] || sign="[signed-by=$keyring]"  # without the file: the keys apt trusts anyway
  mkdir -p "$dir"/{state/lists/partial,cache/archives/partial}
  : >"$dir/status"
  printf '%s\n' "deb $sign $mirror trixie main" "deb-src $sign $mirror trixie main" >"$dir/sources.list"
  trixie_options=(-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State=$dir/state"
    -o "Dir::State::status=$dir/status" -o "Dir::Cache=$dir/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
  apt-get "${trixie_options[@]}" update -qq -o APT::Update::Error-Mode=any >&2 || {
    echo "$name: no verified index for trixie: no network, or this machine lacks the archive's current keys" >&2; return 1; }
}
