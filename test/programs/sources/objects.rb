require 'digest'
require 'json'
require 'zlib'
require 'set'
$stdout.sync = true

rounds = Integer(ARGV[0])
random = Random.new(42)
tree = ->(depth) { depth.zero? ? random.rand(1000) : { 'left' => tree[depth - 1], 'word' => random.bytes(6).unpack1('H*'), 'right' => tree[depth - 1] } }

rounds.times do |round|
  grown = tree[12]
  text = JSON.generate(grown)
  raise 'JSON does not come back' unless JSON.parse(text) == grown

  packed = (0..9).map { |level| Thread.new { Zlib::Deflate.deflate(text, level) } }.map(&:value)
  raise 'zlib does not come back' unless packed.all? { |data| Zlib::Inflate.inflate(data) == text }

  words = text.scan(/[0-9a-f]{12}/)
  groups = words.group_by { |word| word[0, 2] }.transform_values { |list| list.map(&:to_sym).sort }
  fibers = groups.keys.sort.map { |key| Fiber.new { Fiber.yield groups[key].size; groups[key].join.hash.class } }
  sizes = fibers.map(&:resume)
  fibers.each(&:resume)

  GC.stress = true
  small = 12.times.map { |i| "#{i}#{'x' * i}".gsub(/x/) { |x| x.upcase } }.to_set
  GC.stress = false
  GC.start
  GC.compact if GC.respond_to?(:compact) && round.even?

  children = 2.times.map do |number|
    IO.popen('-', 'r') || begin
      GC.start
      print Digest::SHA256.hexdigest(words.rotate(number + round).join)
      exit! 0
    end
  end
  said = children.map { |pipe| pipe.read.tap { pipe.close; raise "child: #{$?}" unless $?.success? } }
  puts [round, text.size, packed.map(&:size).join(','), sizes.sum, small.size, Digest::SHA256.hexdigest(words.sort.join), *said].join(' ')
end
