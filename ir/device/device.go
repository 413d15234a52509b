// Package device holds devices as facts: limits, rates, latencies and features, each a row of devices.json. What a compiler or
// the simulator knows about a device it reads from here.
package device

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Device is one device. Zero means unknown, or that the device has no such thing.
type Device struct {
	Name   string   `json:"name"`
	Short  []string `json:"short"` // what users type; the first is printed
	Vendor string   `json:"vendor"`
	Arch   string   `json:"arch"`
	// Compute is the compute capability, "9.0", or another vendor's target name.
	Compute string `json:"compute_capability"`

	SMs            int     `json:"sm_count"`
	BoostMHz       float64 `json:"boost_clock_mhz"`
	WarpSize       int     `json:"warp_size"`
	Partitions     int     `json:"subpartitions_per_sm"`
	Registers      int     `json:"regs_32bit_per_sm"`
	RegsPerThread  int     `json:"max_regs_per_thread"`
	RegUnit        int     `json:"reg_alloc_unit_regs_per_warp"`
	BlockThreads   int     `json:"max_threads_per_block"`
	SMThreads      int     `json:"max_threads_per_sm"`
	SMWarps        int     `json:"max_warps_per_sm"`
	SMBlocks       int     `json:"max_blocks_per_sm"`
	SMShared       int     `json:"smem_max_bytes_per_sm"`
	BlockShared    int     `json:"smem_optin_max_bytes_per_block"`
	SharedReserved int     `json:"smem_reserved_bytes_per_block"`
	SharedUnit     int     `json:"smem_alloc_granularity_bytes"`
	SharedRate     float64 `json:"smem_bytes_per_clk_per_sm"`
	ClusterBlocks  int     `json:"max_portable_cluster_blocks"`

	F32Lanes  float64            `json:"fp32_lanes_per_sm"`
	F64Lanes  float64            `json:"fp64_lanes_per_sm"`
	SFULanes  float64            `json:"sfu_lanes_per_sm"`
	TensorFMA float64            `json:"tensor_fp16_fp32acc_fma_per_clk_per_sm"`
	TensorTF  map[string]float64 `json:"tensor_peak_dense_tflops"` // by operand type

	L2MiB        float64 `json:"l2_size_mib"`
	L2GBs        float64 `json:"l2_read_bw_measured_gbps"`
	DRAMGBs      float64 `json:"dram_bw_peak_gbps"`
	DRAMMeasured float64 `json:"dram_bw_measured_gbps"`
	DRAMLatency  float64 `json:"dram_latency_cycles"`
	LaunchUS     float64 `json:"launch_interval_stream_us"`

	HasCpAsync  bool `json:"has_cp_async"`
	HasTMA      bool `json:"has_tma"`
	HasMBarrier bool `json:"has_mbarrier"`
	HasClusters bool `json:"has_clusters"`
	HasWgmma    bool `json:"has_wgmma"`
}

//go:embed devices.json
var table []byte

// All lists every known device.
var All = sync.OnceValue(func() []*Device {
	var out []*Device
	if err := json.Unmarshal(table, &out); err != nil {
		panic("device: devices.json: " + err.Error())
	}
	return out
})

// Names lists the short names of all devices.
func Names() []string {
	var out []string
	for _, d := range All() {
		out = append(out, d.Short[0])
	}
	return out
}

// Find looks a device up by a short or full name, in any letter case. The error names the known devices.
func Find(name string) (*Device, error) {
	for _, d := range All() {
		same := func(s string) bool { return strings.EqualFold(s, name) }
		if same(d.Name) || slices.ContainsFunc(d.Short, same) {
			return d, nil
		}
	}
	return nil, fmt.Errorf("there is no device %q; known are %s", name, strings.Join(Names(), ", "))
}

// L2Bytes is the size of the L2 cache.
func (d *Device) L2Bytes() int64 { return int64(d.L2MiB * (1 << 20)) }

func (d *Device) String() string { return d.Short[0] }
