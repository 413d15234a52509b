package sim

// sampled is the number of clusters that are executed. Blocks that wait for each other are all executed.
func (l *launch) sampled(clusters int64) int64 {
	if l.options.Blocks <= 0 || l.traits.serial {
		return clusters
	}
	return min(clusters, max(1, l.options.Blocks/int64(l.cluster)))
}

// scale makes what some blocks did what all do.
func (c *counts) scale(by float64) {
	for i := range c.issued {
		c.issued[i], c.lanes[i] = uint64(float64(c.issued[i])*by), uint64(float64(c.lanes[i])*by)
	}
	c.fused = uint64(float64(c.fused) * by)
	for _, n := range []*int64{&c.loadSectors, &c.storeSectors, &c.loadBytes, &c.storeBytes, &c.wavefronts, &c.conflicts, &c.barriers, &c.shuffles,
		&c.atomics, &c.branches, &c.divergent, &c.mma, &c.mmaFlops, &c.copied} {
		*n = int64(float64(*n) * by)
	}
}

// unique is the number of bytes that all blocks touch of an array of some bytes, where those that were executed touch some.
func (l *launch) unique(touched int64, size int) int64 {
	if l.share == 0 {
		return touched
	}
	return min(int64(float64(touched)*l.share), int64(size))
}
