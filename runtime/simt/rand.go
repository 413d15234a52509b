package simt

import "math/bits"

// Rand is a number in [0, 1) by Philox-4x32-10 (Salmon et al., SC 2011): the key is the seed; the counter the low words of up to
// four indices; each further four are xor-ed into the block and permuted again; the value is (word 0 >> 8) / 2^24.
func Rand(seed int64, index ...int64) float32 {
	k0, k1 := uint32(seed), uint32(uint64(seed)>>32)
	var c [4]uint32
	for i := 0; i == 0 || i < len(index); i += 4 {
		for j := i; j < min(i+4, len(index)); j++ {
			c[j-i] ^= uint32(index[j])
		}
		philox(&c, k0, k1)
	}
	return float32(c[0]>>8) / (1 << 24)
}

func philox(c *[4]uint32, k0, k1 uint32) {
	for range 10 {
		h0, l0 := bits.Mul32(c[0], 0xD2511F53)
		h1, l1 := bits.Mul32(c[2], 0xCD9E8D57)
		*c = [4]uint32{h1 ^ c[1] ^ k0, l1, h0 ^ c[3] ^ k1, l0}
		k0 += 0x9E3779B9
		k1 += 0xBB67AE85
	}
}
