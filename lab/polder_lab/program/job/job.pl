# Hashes of arrays, string growth, splitting and sorting.
use strict; use warnings;
my ($scale) = @ARGV;
my $n = int(250000 * $scale);
use integer;
my $state = 12345;
sub number { $state = ($state * 1103515245 + 12345) & 0x7fffffff; return ($state >> 8) % $_[0]; }
my @words = map { join "", map { chr(97 + number(26)) } 1 .. 2 + number(9) } 1 .. 3000;
my (%by_word, $text);
for my $i (1 .. $n) {
  my $line = join " ", map { $words[number(3000)] } 1 .. 1 + number(10);
  push @{ $by_word{$words[number(3000)]} }, $line;
  delete $by_word{$words[number(3000)]} if number(40) == 0;
}
my ($lines, $sum) = (0, 0);
for my $word (sort keys %by_word) {
  for my $line (sort @{ $by_word{$word} }) {
    my @parts = split / /, $line;
    $lines++;
    $sum = ($sum * 31 + length(join "-", reverse @parts)) & 0xffffffff;
  }
}
print scalar(keys %by_word), " $lines $sum\n";
