# say — messages of the front door, and the nearest names to a wrong one.

note() { printf 'polder: %s\n' "$*" >&2; }

# fail STATUS WORDS…
fail() {
  status=$1
  shift
  note "$@"
  exit "$status"
}

# nearest WORD CANDIDATES… prints "; did you mean …?", or the candidates when none is near, or nothing without candidates.
nearest() {
  word=$1
  shift
  [ $# -gt 0 ] || return 0
  printf '%s\n' "$@" | LC_ALL=C sort -u | LC_ALL=C awk -v word="$word" '
    function min(a, b) { return a < b ? a : b }
    function distance(a, b,   i, j, row, next_row, m, n) {
      m = length(a); n = length(b)
      for (j = 0; j <= n; j++) row[j] = j
      for (i = 1; i <= m; i++) {
        next_row[0] = i
        for (j = 1; j <= n; j++)
          next_row[j] = min(min(row[j] + 1, next_row[j - 1] + 1),
                            row[j - 1] + (substr(a, i, 1) != substr(b, j, 1)))
        for (j = 0; j <= n; j++) row[j] = next_row[j]
      }
      return row[n]
    }
    {
      names[NR] = $0
      limit = int(length(word) / 3)
      if (limit < 2) limit = 2
      d = distance(word, $0)
      if (d > limit && length(word) >= 3 && (index($0, word) || index(word, $0) == 1)) d = limit
      if (d <= limit) { found[d] = found[d] (found[d] == "" ? "" : ", ") $0; count++ }
    }
    END {
      if (count) {
        text = ""
        for (d = 0; d <= limit; d++) if (found[d] != "") text = text (text == "" ? "" : ", ") found[d]
        printf "; did you mean %s?", text
      } else {
        text = names[1]
        for (i = 2; i <= NR && i <= 12; i++) text = text ", " names[i]
        if (NR > 12) text = text ", …"
        printf "; there is: %s", text
      }
    }'
}
