# Strings, arrays and hashes under the garbage collector.
scale = ARGV[0].to_f
state = 12345
number = ->(limit) { state = (state * 1103515245 + 12345) & 0x7fffffff; (state >> 8) % limit }
words = Array.new(3000) { Array.new(2 + number.(9)) { (97 + number.(26)).chr }.join }
lines = Hash.new { |hash, key| hash[key] = [] }
(200000 * scale).to_i.times do
  lines[words[number.(3000)]] << Array.new(1 + number.(10)) { words[number.(3000)] }.join(" ")
  lines.delete(words[number.(3000)]) if number.(8).zero?
end
sum = 0
lines.keys.sort.each { |key| lines[key].sort.each { |line| sum = (sum * 31 + line.split.reverse.join("-").size) & 0xffffffff } }
puts "#{lines.size} #{sum}"
