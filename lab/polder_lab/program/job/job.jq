# Parses a long list of records, regroups and rewrites it.
[ .[] | select(.price > 100) | {name, key: (.name[0:2]), total: (.price * .count), tags: (.tags | sort | unique)} ]
| group_by(.key)
| map({key: .[0].key, count: length, total: (map(.total) | add), tags: (map(.tags[]) | unique | length),
       names: (map(.name) | sort | join(",") | length)})
