#include <gtest/gtest.h>

#include <bit>

#include <polder/mem/links.hpp>

namespace polder::mem {
namespace {

constexpr secret key = 0x0123'4567'89ab'cdef;

template <class Links>
struct list_of : ::testing::Test {
  block blocks[4] = {};
};
using kinds = ::testing::Types<plain_links, encoded_links>;
TYPED_TEST_SUITE(list_of, kinds);

TYPED_TEST(list_of, is_read_as_it_was_written) {
  TypeParam::set(&this->blocks[0], &this->blocks[3], key);
  TypeParam::set(&this->blocks[3], nullptr, key);
  EXPECT_EQ(&this->blocks[3], TypeParam::next(&this->blocks[0], key));
  EXPECT_EQ(nullptr, TypeParam::next(&this->blocks[3], key));
  EXPECT_TRUE(TypeParam::fit(&this->blocks[0], key));
  EXPECT_TRUE(TypeParam::fit(&this->blocks[3], key));
}

TYPED_TEST(list_of, does_not_fit_when_a_bit_is_another) {
  block& b = this->blocks[0];
  TypeParam::set(&b, &this->blocks[1], key);
  auto* const bytes = reinterpret_cast<unsigned char*>(&b);
  for (unsigned bit = 0; bit < 8 * sizeof(block); ++bit) {
    bytes[bit / 8] ^= 1u << bit % 8;
    EXPECT_FALSE(TypeParam::fit(&b, key)) << bit;
    bytes[bit / 8] ^= 1u << bit % 8;
  }
  EXPECT_TRUE(TypeParam::fit(&b, key));
  b.wipe();
  EXPECT_FALSE(TypeParam::fit(&b, key));
}

TEST(encoded_links, shows_neither_an_address_nor_the_secret) {
  block blocks[3] = {};
  encoded_links::set(&blocks[0], &blocks[2], key);
  encoded_links::set(&blocks[1], &blocks[2], key);
  EXPECT_NE(&blocks[2], blocks[0].link);
  EXPECT_NE(blocks[0].link, blocks[1].link) << "the same link in another place reads differently";
  EXPECT_NE(key, blocks[0].key ^ address(blocks[0].link));
  EXPECT_NE(key, blocks[0].key ^ address(&blocks[2]));
  encoded_links::set(&blocks[0], nullptr, key);
  EXPECT_NE(nullptr, blocks[0].link);
}

}  // namespace
}  // namespace polder::mem
