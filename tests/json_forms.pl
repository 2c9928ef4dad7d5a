# json_forms.pl: reads JSON, and writes it with one item of each form in every array. A form is the names of an item's members and the types of
# their values, so that whoever reads the result sees every member that there may be, in few lines.
use strict;
use warnings;
use JSON::PP;

sub form {
    my $value = shift;
    return '{' . join(',', map { "$_:" . form($value->{$_}) } sort keys %$value) . '}' if ref $value eq 'HASH';
    return '[]' if ref $value eq 'ARRAY';
    return !defined $value ? 'null' : JSON::PP::is_bool($value) ? 'flag' : $value =~ /^-?[0-9.eE+-]+$/ ? 'number' : 'text';
}
sub shortened {
    my ($value, %seen) = @_;
    return { map { $_ => shortened($value->{$_}) } keys %$value } if ref $value eq 'HASH';
    return $value if ref $value ne 'ARRAY';
    return [map { shortened($_) } grep { !$seen{form($_)}++ } @$value];
}
my $json = JSON::PP->new->canonical->pretty->indent_length(2)->space_before(0)->allow_bignum(0);
local $/;
print $json->encode(shortened($json->decode(<STDIN>)));
