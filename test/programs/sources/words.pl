# Each thread clones the interpreter with all its data, works on its copy, and hands a string back; then the same by fork.
use strict;
use warnings;
use threads;
use Digest::MD5 qw(md5_hex);
use Storable qw(freeze thaw);

my $rounds = shift;
my $state  = 42;
sub random { $state = ($state * 1103515245 + 12345) & 0x7fffffff; return int($state / 65536) % $_[0] }

my %count;
for (1 .. 60000) {
    my $word = join '', map { chr(97 + random(6)) } 1 .. 1 + random(8);
    $count{$word} += length $word;
}
my $text = join ' ', map { "$_:$count{$_}" } sort keys %count;
print scalar(keys %count), ' ', md5_hex($text), "\n";

sub work {
    my ($number) = @_;
    my $copy = thaw(freeze(\%count));
    my $mine = $text;
    $mine =~ s/([a-f]+):(\d+)/$1 . '=' . ($2 * $number)/ge;
    my @parts = sort { length $a <=> length $b or $a cmp $b } split / /, $mine;
    delete $copy->{$_} for grep { $copy->{$_} % 2 } sort keys %$copy;
    return md5_hex(join "\n", @parts, map { "$_ $copy->{$_}" } sort keys %$copy);
}

for my $round (1 .. $rounds) {
    my @threads = map { my $n = $_; threads->create(sub { work($n * $round) }) } 1 .. 4;
    print "$round threads ", join(' ', map { $_->join } @threads), "\n";

    my @pipes;
    for my $number (1 .. 3) {
        my $pid = open(my $pipe, '-|') // die "fork: $!";
        if (!$pid) { print work($number + $round); exit 0 }
        push @pipes, $pipe;
    }
    print "$round forks ", join(' ', map { my $pipe = $_; local $/; my $said = <$pipe>; close $pipe or die "child: $?"; $said } @pipes), "\n";
}
