/*
 * emulate.cpp - CTAs on the CPU: fibers for CUDA threads, SMEM, and the PTX that the device headers
 * use. A cluster's CTAs run side by side, clusters one after another, unless the launch asks for
 * all at once.
 *
 * A fiber runs until it has to wait: in a shuffle, a matrix instruction or a wgmma for the other
 * lanes, in a barrier, for a phase of an mbarrier. So lanes run far ahead of each other, in an
 * order that the seed chooses, whole warps lag for a while, and what lacks a barrier goes wrong.
 * With an even seed copies and wgmmas happen at once. With an odd one a copy happens at some time
 * before a thread may know of it. A wgmma happens as late as it may: each warp's rows when the warp
 * waits for the group. What is overwritten or read before that goes wrong, too.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "emulate.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <unordered_map>
#include <vector>

uint3 threadIdx, blockIdx, blockDim;
/* The start of dynamic SMEM, by its address only: the bytes are in the CTA that runs. */
alignas(1024) unsigned char grout_dynamic_smem[256 * 1024];

namespace {

constexpr unsigned SMEM_START = 1024; /* address of the first byte of dynamic SMEM */
/* The window of CTA r of a cluster, where its peers see its SMEM, starts at r + 1 of these: its own
 * addresses are small, so that a peer's where an own one is wanted is noticed. */
constexpr unsigned PEER_SHIFT = 24;
constexpr size_t STACK_BYTES = 1 << 20;

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "emulate: cta %u lane %u: %s\n", blockIdx.x, threadIdx.x, what.c_str());
    std::exit(2);
}

/* ---- fibers ---- */

/* A piece of cp.async that has not happened yet. */
struct async_piece {
    std::uint64_t smem;
    const unsigned char *gmem;
    unsigned bytes, read; /* the rest of bytes is zeros */
};

struct cta;
struct fiber {
    ucontext_t context;
    void *stack;
    bool is_done;
    cta *home;
    unsigned lane;
    bool has_arrived; /* on the cluster's barrier, whose generation this was then */
    unsigned generation;
    bool has_looked;                              /* at an mbarrier, in vain */
    const std::function<bool()> *is_blocked;      /* nullptr: it may go on */
    std::vector<async_piece> open;                /* of the open group */
    std::vector<std::vector<async_piece>> groups; /* closed ones, the oldest first */
};
std::vector<fiber> fibers;
ucontext_t scheduler;
unsigned current;
bool is_lazy;      /* the seed is odd */
bool has_progress; /* some fiber did more than look whether it may go on */

void yield() {
    swapcontext(&fibers[current].context, &scheduler);
}

/* Waits as long as is_blocked says so. The scheduler asks: to go to a fiber and back only to hear
 * that it still waits costs more than all that the fibers do. */
void wait_while(const std::function<bool()> &is_blocked) {
    while (is_blocked()) {
        fibers[current].is_blocked = &is_blocked;
        yield();
        fibers[current].is_blocked = nullptr;
    }
    has_progress = true;
}

/* Lanes that do one thing together: the last one to come does it for all. */
struct meeting {
    unsigned count = 0, generation = 0;
    std::vector<void *> places;
};
void meet(meeting &m, unsigned lanes, unsigned lane, void *place,
          const std::function<void(const std::vector<void *> &)> &act) {
    m.places.resize(lanes);
    m.places[lane] = place;
    if (++m.count == lanes) {
        act(m.places);
        m.count = 0;
        m.generation++;
        has_progress = true;
        return;
    }
    const unsigned generation = m.generation;
    wait_while([&] { return m.generation == generation; });
}

/* ---- CTAs ---- */

struct named_barrier {
    unsigned count = 0, generation = 0;
    bool is_all = true, was_all = true; /* of what the lanes say; of the generation before */
};
struct mbarrier {
    unsigned arrivals = 0, pending = 0, phase = 0;
    long long bytes = 0;
};
/* What one warp does of a wgmma: its 16 rows. Lanes' registers stay where they are until then. */
struct product {
    unsigned cols, depth, element_bytes;
    std::string a_type, b_type; /* f16, bf16, tf32, e4m3, e5m2, s8, u8 */
    bool is_f16;                /* the accumulator's elements, in pairs */
    bool is_s32;                /* the accumulator's elements: sums wrap, or: */
    bool is_saturating;
    bool is_fresh; /* what it held before does not count */
    bool is_turned_a, is_turned_b, is_in_registers;
    bool is_sparse;                      /* a keeps half of its elements along K */
    unsigned pair;                       /* of its metadata: which lanes of a quad have it */
    std::vector<std::uint32_t> metadata; /* by lane */
    std::uint64_t a, b;                  /* descriptors */
    std::vector<std::vector<void *>> accumulators; /* by lane */
    std::vector<std::vector<std::uint32_t>> rows;  /* the same, of a in registers */
};
struct warp_queue {
    std::vector<product> open;
    std::vector<std::vector<product>> groups;
};
struct cluster {
    std::vector<cta *> ctas; /* by rank */
    unsigned generation = 0; /* of the hardware barrier */
};
struct cta {
    unsigned index = 0, rank = 0; /* of the launch, in the cluster */
    unsigned left = 0;            /* lanes that have not ended */
    cluster *peers = nullptr;
    std::vector<unsigned char> smem;
    std::map<unsigned, meeting> warp_meetings, group_meetings;
    std::map<unsigned, named_barrier> named_barriers;
    std::map<std::uint64_t, mbarrier> mbarriers; /* by their own CTA's address */
    std::map<unsigned, warp_queue> queues;
};
cta *here; /* of the fiber that runs */

/* ---- named barriers ---- */

void arrive_named(named_barrier &barrier, unsigned lanes, bool is_true) {
    barrier.is_all = barrier.is_all && is_true;
    has_progress = true;
    if (++barrier.count == lanes) {
        barrier.count = 0;
        barrier.generation++;
        barrier.was_all = barrier.is_all;
        barrier.is_all = true;
    }
}

/* Whether all of them say so. */
bool sync_named(unsigned id, unsigned lanes, bool is_true = true) {
    named_barrier &barrier = here->named_barriers[id];
    const unsigned generation = barrier.generation;
    arrive_named(barrier, lanes, is_true);
    wait_while([&] { return barrier.generation == generation; });
    return barrier.was_all;
}

/* ---- the cluster's barrier ---- */

/* Complete when every lane of the cluster has arrived or ended. */
void settle_cluster(cluster &c) {
    for (const fiber &f : fibers) {
        if (f.home != nullptr && f.home->peers == &c && !f.is_done && !f.has_arrived) {
            return;
        }
    }
    for (fiber &f : fibers) {
        if (f.home != nullptr && f.home->peers == &c) {
            f.has_arrived = false;
        }
    }
    c.generation++;
    has_progress = true;
}

void use_cluster_barrier(bool is_arrive) {
    cluster &c = *here->peers;
    fiber &f = fibers[current];
    if (is_arrive && f.has_arrived) {
        fail("a second arrival on the cluster's barrier before the wait");
    }
    if (is_arrive) {
        f.has_arrived = true;
        f.generation = c.generation;
        settle_cluster(c);
        has_progress = true;
    } else {
        const unsigned generation = f.generation;
        wait_while([&c, generation] { return c.generation == generation; });
    }
}

/* ---- memory ---- */

unsigned smem_bytes;
std::vector<emulate_array> arrays;

/* The CTA whose SMEM an address lies in. Peers' are for instructions on shared::cluster. */
cta &get_owner(std::uint64_t address, bool is_for_cluster) {
    const std::uint64_t window = address >> PEER_SHIFT;
    if (window == 0) {
        return *here;
    }
    if (!is_for_cluster || window > here->peers->ctas.size()) {
        fail("address " + std::to_string(address) + " is in the window of a peer");
    }
    cta &owner = *here->peers->ctas[window - 1];
    if (owner.left == 0) {
        fail("CTA " + std::to_string(owner.index) + " has ended, and its SMEM is used");
    }
    return owner;
}
std::uint64_t strip_window(std::uint64_t address) {
    return address & ((1u << PEER_SHIFT) - 1);
}

unsigned char *at_smem_of(cta &owner, std::uint64_t address, unsigned size) {
    address = strip_window(address);
    if (address < SMEM_START || address + size > SMEM_START + smem_bytes) {
        fail("SMEM address " + std::to_string(address) + " outside");
    }
    if (address % size != 0 && size <= 16) {
        fail("SMEM address " + std::to_string(address) + " not a multiple of " +
             std::to_string(size));
    }
    return owner.smem.data() + (address - SMEM_START);
}
unsigned char *at_smem(std::uint64_t address, unsigned size, bool is_for_cluster = false) {
    return at_smem_of(get_owner(address, is_for_cluster), address, size);
}
/* An address in GMEM; alignment: of what has to be a multiple of less than its size. */
unsigned char *at_gmem(std::uint64_t address, unsigned size, unsigned alignment = 0) {
    unsigned char *pointer = reinterpret_cast<unsigned char *>(address);
    for (const emulate_array &array : arrays) {
        if (pointer >= array.data && pointer + size <= array.data + array.size) {
            if (address % (alignment == 0 ? size : alignment) != 0) {
                fail("GMEM address not a multiple of " +
                     std::to_string(alignment == 0 ? size : alignment));
            }
            return pointer;
        }
    }
    fail("GMEM address outside all arrays");
}

/* ---- mbarriers ---- */

mbarrier &get_mbarrier_of(cta &owner, std::uint64_t address) {
    auto found = owner.mbarriers.find(strip_window(address));
    if (found == owner.mbarriers.end()) {
        fail("no mbarrier at " + std::to_string(address));
    }
    return found->second;
}
mbarrier &get_mbarrier(std::uint64_t address, bool is_for_cluster = false) {
    return get_mbarrier_of(get_owner(address, is_for_cluster), address);
}
void settle(mbarrier &barrier) {
    if (barrier.pending == 0 && barrier.bytes == 0) {
        barrier.phase++;
        barrier.pending = barrier.arrivals;
    }
    has_progress = true;
}
/* The phases after this one take so many arrivals less. */
void leave(mbarrier &barrier, unsigned count) {
    if (barrier.arrivals < count) {
        fail("more arrivals leave the mbarrier than it takes");
    }
    barrier.arrivals -= count;
}
void arrive(mbarrier &barrier, unsigned count) {
    if (barrier.pending < count) {
        fail("more arrivals than the mbarrier's phase takes");
    }
    barrier.pending -= count;
    settle(barrier);
}

/* ---- tensor copies ---- */

std::uint64_t swizzle_address(std::uint64_t address, unsigned swizzle) {
    return swizzle == 0 ? address : address ^ ((address >> 7 & (swizzle / 16 - 1)) << 4);
}

void combine(const emulate_map &map, const std::string &op, unsigned char *to,
             const unsigned char *from);

void fill_outside(const emulate_map &map, unsigned char *to) {
    /* the patterns of 16 bits that an H100 fills with */
    for (unsigned k = 0; k < map.element_bytes; k++) {
        to[k] = !map.fills_nan ? 0 : k % 2 == 0 ? 0xf7 : 0x7f;
    }
}

/* Where a dimension ends for a copy: what goes out is clipped by whole 16 bytes, as an H100 does.
 */
long long get_end(const emulate_map &map, unsigned dim, bool is_load) {
    const long long size = (long long)map.dims[dim];
    if (is_load || dim > 0) {
        return size;
    }
    const long long granule = std::max(16 / map.element_bytes, 1u);
    return (size + granule - 1) / granule * granule;
}

/* The box of a map at these coordinates, element by element; outside, zeros or NaN come in and
 * nothing goes out. op: "load", "store" or a reduction. The SMEM is that of owner. */
void copy_box(const emulate_map &map, cta &owner, std::uint64_t smem, const int *start,
              const std::string &op) {
    const bool is_load = op == "load";
    unsigned index[5] = {0};
    const unsigned width = map.element_bytes;
    if (smem % 128 != 0) {
        fail("a tensor copy's SMEM address is no multiple of 128");
    }
    std::uint64_t pitch =
        map.box[0] * width; /* rows of a swizzled box are as wide as the swizzle */
    pitch = map.swizzle > pitch ? map.swizzle : pitch;
    for (;;) {
        std::uint64_t offset = 0;
        unsigned row = 0;
        bool is_inside = true;
        for (unsigned k = map.rank; k-- > 0;) {
            const long long at = (long long)start[k] + index[k];
            is_inside = is_inside && at >= 0 && at < get_end(map, k, is_load);
            offset += (std::uint64_t)at * map.strides[k];
            row = k > 0 ? row * map.box[k] + index[k] : row;
        }
        unsigned char *to = at_smem_of(
            owner, swizzle_address(smem + row * pitch + index[0] * width, map.swizzle), width);
        if (is_load && is_inside) {
            std::memcpy(to, map.data + offset, width);
        } else if (is_load) {
            fill_outside(map, to);
        } else if (is_inside && op == "store") {
            std::memcpy(at_gmem(reinterpret_cast<std::uint64_t>(map.data) + offset, width), to,
                        width);
        } else if (is_inside) {
            combine(map, op, at_gmem(reinterpret_cast<std::uint64_t>(map.data) + offset, width),
                    to);
        }
        unsigned k = 0;
        for (; k < map.rank && ++index[k] == map.box[k]; k++) {
            index[k] = 0;
        }
        if (k == map.rank) {
            return;
        }
    }
}

/* The pixels of a load in im2col mode, from a base pixel on: start is a channel, then w, h, d, n.
 * Written as the manual has it: the base pixel runs through the bounding box, w first, and what is
 * read lies the offsets further on. */
void copy_pixels(const emulate_map &map, cta &owner, std::uint64_t smem, const int *start,
                 const std::vector<unsigned> &offsets) {
    const unsigned width = map.element_bytes, image = map.rank - 1;
    const std::uint64_t pitch = std::max<std::uint64_t>(map.box[0] * width, map.swizzle);
    std::vector<long long> base(start, start + map.rank);
    if (smem % 128 != 0) {
        fail("a tensor copy's SMEM address is no multiple of 128");
    }
    for (unsigned k = 0; k < map.spatial_count; k++) {
        const long long last = (long long)map.dims[1 + k] - 1 + map.upper[k];
        if (base[1 + k] < map.lower[k] || base[1 + k] > last ||
            (base[1 + k] - map.lower[k]) % map.steps[1 + k] != 0) {
            fail("a load in im2col mode from a pixel that its box does not have");
        }
    }
    for (unsigned pixel = 0; pixel < map.box[1]; pixel++) {
        for (unsigned c = 0; c < map.box[0]; c++) {
            long long at = base[0] + c;
            bool is_inside = at >= 0 && at < (long long)map.dims[0] && base[image] >= 0 &&
                             base[image] < (long long)map.dims[image];
            std::uint64_t offset =
                (std::uint64_t)at * width + (std::uint64_t)base[image] * map.strides[image];
            for (unsigned k = 1; k < image; k++) {
                at = base[k] + offsets[k - 1];
                is_inside = is_inside && at >= 0 && at < (long long)map.dims[k];
                offset += (std::uint64_t)at * map.strides[k];
            }
            unsigned char *to = at_smem_of(
                owner, swizzle_address(smem + pixel * pitch + c * width, map.swizzle), width);
            if (is_inside) {
                std::memcpy(to, map.data + offset, width);
            } else {
                fill_outside(map, to);
            }
        }
        unsigned k = 1;
        for (; k < image; k++) {
            base[k] += map.steps[k];
            if (base[k] < (long long)map.dims[k] + map.upper[k - 1]) {
                break;
            }
            base[k] = map.lower[k - 1];
        }
        base[image] += k == image ? 1 : 0;
    }
}

/* ---- numbers ---- */

/* A value rounded to nearest even to a float of so many bits; as bits. max_exponent is that of the
 * largest finite number; is_clamped: what is larger becomes that number instead of infinity. */
struct float_format {
    int exponent_bits, fraction_bits;
    bool has_infinity;
};
constexpr float_format F16 = {5, 10, true}, BF16 = {8, 7, true}, E4M3 = {4, 3, false},
                       E5M2 = {5, 2, true}, F32 = {8, 23, true};

std::uint64_t round_to(const float_format &f, long double value, bool is_clamped) {
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    const std::uint64_t sign =
        std::signbit(value) ? 1ull << (f.exponent_bits + f.fraction_bits) : 0;
    const std::uint64_t ones = (1ull << f.exponent_bits) - 1;
    const std::uint64_t infinity = ones << f.fraction_bits;
    const std::uint64_t nan =
        f.has_infinity ? infinity | 1ull << (f.fraction_bits - 1) : infinity | 7;
    const std::uint64_t largest = f.has_infinity ? infinity - 1 : infinity | 6;
    if (std::isnan(value)) {
        return nan;
    }
    const long double magnitude = std::fabs(value);
    if (std::isinf(value)) {
        return sign | (is_clamped ? largest : infinity);
    }
    int exponent = 0;
    std::frexp(magnitude, &exponent); /* magnitude = 0.1... * 2^exponent */
    const int least = 1 - bias;
    const int unit = std::max(exponent - 1, least) - f.fraction_bits;
    std::uint64_t count = (std::uint64_t)std::nearbyint(std::ldexp(magnitude, -unit));
    if (magnitude == 0) {
        return sign;
    }
    /* count units: its leading bit is the implicit one, unless the number is subnormal. */
    std::uint64_t bits = (std::uint64_t)(unit + f.fraction_bits + bias - 1);
    bits = (bits << f.fraction_bits) + count;
    if (bits > largest) {
        bits = is_clamped || !f.has_infinity ? largest : infinity;
    }
    return sign | bits;
}

long double widen(const float_format &f, std::uint64_t bits) {
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    const std::uint64_t ones = (1ull << f.exponent_bits) - 1;
    const std::uint64_t exponent = bits >> f.fraction_bits & ones;
    const std::uint64_t fraction = bits & ((1ull << f.fraction_bits) - 1);
    const bool is_negative = (bits >> (f.exponent_bits + f.fraction_bits) & 1) != 0;
    long double value;
    if (f.has_infinity && exponent == ones) {
        value = fraction != 0 ? NAN : INFINITY;
    } else if (!f.has_infinity && exponent == ones && fraction == 7) {
        value = NAN;
    } else if (exponent == 0) {
        value = std::ldexp((long double)fraction, 1 - bias - f.fraction_bits);
    } else {
        value = std::ldexp((long double)(fraction | 1ull << f.fraction_bits),
                           (int)exponent - bias - f.fraction_bits);
    }
    return is_negative ? -value : value;
}

float as_f32(std::uint64_t bits) {
    return emulate_bits<float>((unsigned)bits);
}
std::uint64_t of_f32(float value) {
    return emulate_bits<unsigned>(value);
}

long double read_number(const std::string &type, std::uint64_t bits) {
    if (type == "f32") {
        return as_f32(bits);
    }
    if (type == "f64") {
        return emulate_bits<double>(bits);
    }
    if (type == "f16") {
        return widen(F16, bits & 0xffff);
    }
    if (type == "bf16") {
        return widen(BF16, bits & 0xffff);
    }
    if (type == "s32") {
        return (long double)(std::int32_t)bits;
    }
    if (type == "u32") {
        return (long double)(std::uint32_t)bits;
    }
    if (type == "s64") {
        return (long double)(std::int64_t)bits;
    }
    if (type == "u64") {
        return (long double)bits;
    }
    fail("cvt from " + type);
}

/* PTX: float to integer truncates and clamps; NaN becomes 0, but from f64 or to 64 bits, where it
 * is 2^63 or all ones. */
std::uint64_t clamp_number(long double value, bool is_signed, unsigned bits, bool is_nan_zero) {
    const long double high = std::ldexp(1.0L, (int)(is_signed ? bits - 1 : bits)) - 1;
    const long double low = is_signed ? -high - 1 : 0;
    if (std::isnan(value)) {
        return is_nan_zero ? 0 : 1ull << 63;
    }
    const long double cut = std::min(std::max(std::trunc(value), low), high);
    return is_signed ? (std::uint64_t)(std::int64_t)cut : (std::uint64_t)cut;
}

std::uint64_t write_number(const std::string &type, long double value, bool is_nan_zero) {
    if (type == "f32") {
        return std::isnan(value) ? 0x7fffffff : of_f32((float)value);
    }
    if (type == "f64") {
        return emulate_bits<std::uint64_t>((double)value);
    }
    if (type == "f16") {
        return std::isnan(value) ? 0x7fff : round_to(F16, value, false);
    }
    if (type == "bf16") {
        return std::isnan(value) ? 0x7fff : round_to(BF16, value, false);
    }
    if (type == "s32" || type == "u32") {
        return clamp_number(value, type == "s32", 32, is_nan_zero) & 0xffffffff;
    }
    if (type == "s64" || type == "u64") {
        return clamp_number(value, type == "s64", 64, is_nan_zero);
    }
    fail("cvt to " + type);
}

/* Two elements to one, both as bits. Integers wrap; floats are rounded to nearest even. */
std::uint64_t combine_bits(const std::string &op, const std::string &type, std::uint64_t a,
                           std::uint64_t b) {
    const bool is_float = type[0] == 'f' || type[0] == 'b';
    const std::uint64_t mask = type.find("64") != std::string::npos ? ~0ull : 0xffffffffull;
    if (op == "and" || op == "or" || op == "xor") {
        return op == "and" ? a & b : op == "or" ? a | b : a ^ b;
    }
    if (op == "inc" || op == "dec") {
        return op == "inc" ? (a >= b ? 0 : a + 1) : (a == 0 || a > b ? b : a - 1);
    }
    if (op == "add" && !is_float) {
        return (a + b) & mask;
    }
    const long double x = read_number(type, a), y = read_number(type, b);
    if (op == "add") {
        return write_number(type, x + y, true);
    }
    return (op == "min") == (x < y) ? a : b;
}

void combine(const emulate_map &map, const std::string &op, unsigned char *to,
             const unsigned char *from) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, to, map.element_bytes);
    std::memcpy(&b, from, map.element_bytes);
    a = combine_bits(op, map.type, a, b);
    std::memcpy(to, &a, map.element_bytes);
}

/* ---- PTX text ---- */

/* What PTX text holds may be less than its instruction reads: run_statement says so then. */
template <typename T> struct checked_list : std::vector<T> {
    const T &operator[](size_t k) const { return this->at(k); }
};
/* "{%0, %1}" and "[%0, {%1}]" are lists; everything else is a name, a number or an operand. */
struct argument {
    int operand = -1; /* of %N */
    std::string name;
    checked_list<argument> list;
    bool is_list = false;
};
struct statement {
    std::string text, label, guard;
    bool is_guard_negated = false;
    checked_list<std::string> words; /* of the mnemonic */
    checked_list<argument> arguments;
};
typedef std::vector<statement> program;

std::string strip(const std::string &text) {
    const size_t first = text.find_first_not_of(" \t\n");
    const size_t last = text.find_last_not_of(" \t\n");
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> split(const std::string &text, char by) {
    std::vector<std::string> parts;
    std::string part;
    int depth = 0;
    for (char c : text) {
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
        if (c == by && depth == 0) {
            parts.push_back(strip(part));
            part.clear();
        } else {
            part += c;
        }
    }
    if (!strip(part).empty()) {
        parts.push_back(strip(part));
    }
    return parts;
}

argument parse_argument(const std::string &text) {
    argument a;
    if (text.front() == '{' || text.front() == '[') {
        a.is_list = true;
        for (const std::string &part : split(text.substr(1, text.size() - 2), ',')) {
            a.list.push_back(parse_argument(part));
        }
    } else if (text.front() == '%' && text.size() > 1 && std::isdigit((unsigned char)text[1])) {
        a.operand = std::stoi(text.substr(1));
    } else {
        a.name = text;
    }
    return a;
}

/* Statements end with ';' and may begin with 'LABEL:'. Braces around all of them make a scope,
 * which changes nothing here. */
program parse(std::string text) {
    program statements;
    text = strip(text);
    if (!text.empty() && text.front() == '{') {
        text = strip(text.substr(1, text.rfind('}') - 1));
    }
    if (!text.empty() && text.back() != ';') {
        fail("no ';' at the end of the PTX '" + text + "'");
    }
    for (std::string part : split(text, ';')) {
        statement s;
        s.text = part;
        if (part.rfind(".reg", 0) == 0) {
            continue;
        }
        const size_t colon = part.find(':');
        if (colon != std::string::npos && part.find_first_of(" .@[") > colon) {
            s.label = part.substr(0, colon);
            part = strip(part.substr(colon + 1));
        }
        if (part.front() == '@') {
            const size_t space = part.find(' ');
            s.is_guard_negated = part[1] == '!';
            const size_t start = s.is_guard_negated ? 2 : 1;
            s.guard = part.substr(start, space - start);
            part = strip(part.substr(space));
        }
        const size_t space = part.find_first_of(" \t\n");
        std::string word;
        for (char c : part.substr(0, space) + ".") {
            if (c == '.') {
                s.words.push_back(word);
                word.clear();
            } else {
                word += c;
            }
        }
        if (space != std::string::npos) {
            for (const std::string &a : split(part.substr(space), ',')) {
                s.arguments.push_back(parse_argument(a));
            }
        }
        statements.push_back(s);
    }
    return statements;
}

const program &get_program(const char *text) {
    static std::unordered_map<const char *, program> programs;
    auto found = programs.find(text);
    if (found == programs.end()) {
        found = programs.emplace(text, parse(text)).first;
    }
    return found->second;
}

/* One run of an asm statement by one lane. */
struct machine {
    std::vector<emulate_operand> operands;
    std::map<std::string, std::uint64_t> registers;

    std::uint64_t get(const argument &a) {
        if (a.operand >= 0) {
            return operands.at((size_t)a.operand).bits;
        }
        if (std::isdigit((unsigned char)a.name[0]) || a.name[0] == '-') {
            return (std::uint64_t)std::stoll(a.name, nullptr, 0);
        }
        if (a.name == "%globaltimer") {
            return 0;
        }
        if (a.name == "%%cluster_ctarank") {
            return here->rank;
        }
        return registers[a.name];
    }
    void set(const argument &a, std::uint64_t bits) {
        if (a.operand < 0) {
            registers[a.name] = bits;
            return;
        }
        emulate_operand &operand = operands.at((size_t)a.operand);
        operand.bits = bits;
        switch (operand.letter) {
        case 'h':
            std::memcpy(operand.target, &bits, 2);
            return;
        case 'r':
        case 'f':
            std::memcpy(operand.target, &bits, 4);
            return;
        case 'l':
        case 'd':
            std::memcpy(operand.target, &bits, 8);
            return;
        default:
            fail(std::string("constraint ") + operand.letter);
        }
    }
};

bool has_word(const statement &s, const std::string &word) {
    return std::find(s.words.begin(), s.words.end(), word) != s.words.end();
}

/* The function of this name does not know this form of an instruction. */
[[noreturn]] void fail_unknown(const statement &s, const char *function) {
    fail("unknown PTX '" + s.text + "': if it is right, teach it to " + function +
         " in tests/differential/emulate/emulate.cpp");
}

/* ---- instructions ---- */

void convert(machine &m, const statement &s) {
    const std::string &to = s.words[s.words.size() - 2], &from = s.words.back();
    if (to == "f16x2" && from == "f32") {
        m.set(s.arguments[0], write_number("f16", as_f32(m.get(s.arguments[1])), true) << 16 |
                                  write_number("f16", as_f32(m.get(s.arguments[2])), true));
    } else if (to == "bf16x2" && from == "f32") {
        m.set(s.arguments[0], write_number("bf16", as_f32(m.get(s.arguments[1])), true) << 16 |
                                  write_number("bf16", as_f32(m.get(s.arguments[2])), true));
    } else if (to == "e4m3x2" || to == "e5m2x2") {
        const float_format &f = to == "e4m3x2" ? E4M3 : E5M2;
        m.set(s.arguments[0], round_to(f, as_f32(m.get(s.arguments[1])), true) << 8 |
                                  round_to(f, as_f32(m.get(s.arguments[2])), true));
    } else if (from == "e4m3x2" || from == "e5m2x2") {
        const float_format &f = from == "e4m3x2" ? E4M3 : E5M2;
        const std::uint64_t pair = m.get(s.arguments[1]);
        m.set(s.arguments[0], write_number("f16", widen(f, pair >> 8 & 0xff), true) << 16 |
                                  write_number("f16", widen(f, pair & 0xff), true));
    } else {
        const bool is_nan_zero = from != "f64" && to != "s64" && to != "u64";
        m.set(s.arguments[0],
              write_number(to, read_number(from, m.get(s.arguments[1])), is_nan_zero));
    }
}

void take_extreme(machine &m, const statement &s) {
    const float a = as_f32(m.get(s.arguments[1])), b = as_f32(m.get(s.arguments[2]));
    const bool is_min = s.words[0] == "min";
    float value = is_min ? std::min(a, b) : std::max(a, b);
    if (std::isnan(a) || std::isnan(b)) {
        m.set(s.arguments[0], 0x7fffffff);
        return;
    }
    if (a == b) { /* zeros of two signs */
        value = std::signbit(a) == is_min ? a : b;
    }
    m.set(s.arguments[0], of_f32(value));
}

void shift(machine &m, const statement &s) {
    const std::uint32_t a = (std::uint32_t)m.get(s.arguments[1]);
    const std::uint32_t by = (std::uint32_t)m.get(s.arguments[2]);
    if (s.words[0] == "shl") {
        m.set(s.arguments[0], by > 31 ? 0 : a << by);
    } else if (s.words[1] == "u32") {
        m.set(s.arguments[0], by > 31 ? 0 : a >> by);
    } else {
        m.set(s.arguments[0], (std::uint32_t)((std::int32_t)a >> std::min(by, 31u)));
    }
}

void approximate(machine &m, const statement &s) {
    const std::string &name = s.words[0];
    const double a = as_f32(m.get(s.arguments[1]));
    const double value = name == "ex2"     ? std::exp2(a)
                         : name == "lg2"   ? std::log2(a)
                         : name == "sin"   ? std::sin(a)
                         : name == "cos"   ? std::cos(a)
                         : name == "tanh"  ? std::tanh(a)
                         : name == "rsqrt" ? 1 / std::sqrt(a)
                                           : 1 / a;
    m.set(s.arguments[0], of_f32((float)value));
}

unsigned get_type_bytes(const std::string &type) {
    return type == "u8" || type == "b8"     ? 1
           : type == "b16" || type == "u16" ? 2
           : type == "b64" || type == "u64" ? 8
                                            : 4;
}

/* st.async, red.async: the store, or the combination, and its bytes to the mbarrier beside it. */
void access_async(machine &m, const statement &s) {
    const argument &value = s.arguments[1];
    const std::string &type = s.words.back();
    const unsigned bytes = get_type_bytes(type);
    const unsigned count = value.is_list ? (unsigned)value.list.size() : 1;
    const std::uint64_t address = m.get(s.arguments[0].list[0]);
    const std::uint64_t barrier_address = m.get(s.arguments[2].list[0]);
    unsigned char *data = at_smem(address, bytes * count, true);
    if (&get_owner(address, true) != &get_owner(barrier_address, true)) {
        fail("the bytes and the mbarrier are in different CTAs: " + s.text);
    }
    for (unsigned k = 0; k < count; k++) {
        std::uint64_t bits = m.get(value.is_list ? value.list[k] : value), old = 0;
        if (s.words[0] == "red") {
            std::memcpy(&old, data + k * bytes, bytes);
            bits = combine_bits(s.words[s.words.size() - 2], type, old, bits);
        }
        std::memcpy(data + k * bytes, &bits, bytes);
    }
    mbarrier &barrier = get_mbarrier(barrier_address, true);
    barrier.bytes -= bytes * count;
    settle(barrier);
}

/* ld.shared.v4.b32 {..}, [address]; st.global.b32 [address], value */
void access_memory(machine &m, const statement &s) {
    const bool is_load = s.words[0] == "ld";
    const argument &address = s.arguments[is_load ? 1 : 0], &value = s.arguments[is_load ? 0 : 1];
    const unsigned bytes = get_type_bytes(s.words.back());
    const unsigned count = value.is_list ? (unsigned)value.list.size() : 1;
    const std::uint64_t at = m.get(address.list[0]);
    unsigned char *data = has_word(s, "global")
                              ? at_gmem(at, bytes * count)
                              : at_smem(at, bytes * count, has_word(s, "shared::cluster"));
    for (unsigned k = 0; k < count; k++) {
        const argument &part = value.is_list ? value.list[k] : value;
        std::uint64_t bits = is_load ? 0 : m.get(part);
        if (is_load) {
            std::memcpy(&bits, data + k * bytes, bytes);
            m.set(part, bits);
        } else {
            std::memcpy(data + k * bytes, &bits, bytes);
        }
    }
}

/* What each lane brings to a matrix instruction, and takes from it. */
struct matrix_lane {
    std::uint64_t address;
    std::uint32_t registers[4];
};

/* Lane l, register i: matrix i, run l / 4, elements 2 * (l % 4) and the next; with .trans, runs and
 * elements change places. Lane 8 i + k has the address of run k of matrix i. */
void move_matrices(machine &m, const statement &s) {
    const bool is_load = s.words[0] == "ldmatrix", is_transposed = has_word(s, "trans");
    const argument &values = s.arguments[is_load ? 0 : 1];
    const unsigned count = (unsigned)values.list.size(), lane = emulate_lane();
    matrix_lane mine = {m.get(s.arguments[is_load ? 1 : 0].list[0]), {0}};
    for (unsigned k = 0; k < count && !is_load; k++) {
        mine.registers[k] = (std::uint32_t)m.get(values.list[k]);
    }
    meet(here->warp_meetings[threadIdx.x / 32], 32, lane, &mine,
         [&](const std::vector<void *> &all) {
             for (unsigned k = 0; k < count * 64; k++) {
                 const unsigned matrix = k / 64, row = k / 8 % 8, col = k % 8;
                 const unsigned run = is_transposed ? col : row,
                                element = is_transposed ? row : col;
                 matrix_lane *owner = static_cast<matrix_lane *>(all[row * 4 + col / 2]);
                 const matrix_lane *guide = static_cast<matrix_lane *>(all[matrix * 8 + run]);
                 unsigned char *data = at_smem(guide->address, 16) + element * 2;
                 unsigned char *half =
                     reinterpret_cast<unsigned char *>(&owner->registers[matrix]) + col % 2 * 2;
                 std::memcpy(is_load ? half : data, is_load ? data : half, 2);
             }
         });
    for (unsigned k = 0; k < count && is_load; k++) {
        m.set(values.list[k], mine.registers[k]);
    }
}

/* One element in memory, and what it held. */
std::uint64_t change_element(machine &m, const statement &s, const std::string &op,
                             const std::string &type, unsigned char *data, const argument &value) {
    const unsigned bytes = type == "f16" || type == "bf16" ? 2 : get_type_bytes(type);
    const std::uint64_t mask = bytes == 8 ? ~0ull : (1ull << 8 * bytes) - 1;
    const std::uint64_t bits = m.get(value) & mask;
    std::uint64_t old = 0;
    std::memcpy(&old, data, bytes);
    std::uint64_t wanted = bits;
    if (op == "cas") {
        wanted = old == bits ? m.get(s.arguments[3]) & mask : old;
    } else if (op != "exch") {
        wanted = combine_bits(op, type, old, bits);
    }
    std::memcpy(data, &wanted, bytes);
    return old;
}

/* red.relaxed.gpu.global.add.noftz.v2.f16x2 [address], {..}; atom...cas.b32 old, [address], a, b */
void do_atomic(machine &m, const statement &s) {
    static const std::vector<std::string> ops = {"add", "min", "max", "and",  "or",
                                                 "xor", "inc", "dec", "exch", "cas"};
    const bool is_fetch = s.words[0] == "atom";
    const argument &address = s.arguments[is_fetch ? 1 : 0], &value = s.arguments[is_fetch ? 2 : 1];
    const unsigned count = value.is_list ? (unsigned)value.list.size() : 1;
    std::string type = s.words.back(), op;
    for (const std::string &word : s.words) {
        op = std::find(ops.begin(), ops.end(), word) != ops.end() ? word : op;
    }
    if (op.empty()) {
        fail_unknown(s, __func__);
    }
    const bool is_pair = type == "f16x2" || type == "bf16x2";
    type = is_pair ? type.substr(0, type.size() - 2) : type;
    const unsigned bytes = is_pair ? 4 : type == "f16" || type == "bf16" ? 2 : get_type_bytes(type);
    const std::uint64_t at = m.get(address.list[0]);
    unsigned char *data = has_word(s, "global")
                              ? at_gmem(at, bytes * count)
                              : at_smem(at, bytes * count, has_word(s, "shared::cluster"));
    has_progress = true;
    for (unsigned k = 0; k < count; k++) {
        const argument &part = value.is_list ? value.list[k] : value;
        if (is_pair) {
            for (unsigned half = 0; half < 2; half++) {
                argument number;
                number.name = std::to_string(m.get(part) >> 16 * half & 0xffff);
                change_element(m, s, op, type, data + k * 4 + half * 2, number);
            }
            continue;
        }
        const std::uint64_t old = change_element(m, s, op, type, data + k * bytes, part);
        if (is_fetch) {
            m.set(s.arguments[0], old);
        }
    }
}

/* ---- cp.async ---- */

void finish_pieces(std::vector<async_piece> &pieces) {
    for (const async_piece &piece : pieces) {
        std::memset(at_smem(piece.smem, piece.bytes), 0, piece.bytes);
        if (piece.read > 0) {
            std::memcpy(at_smem(piece.smem, piece.bytes), piece.gmem, piece.read);
        }
    }
    pieces.clear();
}

/* At once; or, with an odd seed, when the lane waits for it or arrives for it, and until then there
 * is nothing to read. */
void copy_async(machine &m, const statement &s) {
    fiber &f = fibers[current];
    if (s.words[2] == "commit_group") {
        f.groups.push_back(f.open);
        f.open.clear();
    } else if (s.words[2] == "wait_group") {
        while (f.groups.size() > m.get(s.arguments[0])) {
            finish_pieces(f.groups.front());
            f.groups.erase(f.groups.begin());
        }
    } else if (s.words[2] == "mbarrier") {
        for (std::vector<async_piece> &group : f.groups) {
            finish_pieces(group);
        }
        finish_pieces(f.open);
        if (s.words[4] != "noinc") {
            get_mbarrier(m.get(s.arguments[0].list[0])).pending++;
        }
        arrive(get_mbarrier(m.get(s.arguments[0].list[0])), 1);
    } else if (s.words[2] != "ca" && s.words[2] != "cg") {
        fail_unknown(s, __func__);
    } else {
        const unsigned bytes = (unsigned)m.get(s.arguments[2]);
        const std::uint64_t smem = m.get(s.arguments[0].list[0]);
        const std::uint64_t from = m.get(s.arguments[1].list[0]);
        const unsigned read = s.arguments.size() > 3 ? (unsigned)m.get(s.arguments[3]) : bytes;
        if (smem % bytes != 0 || from % bytes != 0 || read > bytes) {
            fail("cp.async of " + std::to_string(bytes) +
                 " bytes: misaligned, or too large a source");
        }
        const unsigned char *gmem = read == 0 ? nullptr : at_gmem(from, read);
        f.open.push_back({smem, gmem, bytes, read});
        std::memset(at_smem(smem, bytes), 0xa5, bytes);
        if (!is_lazy) {
            finish_pieces(f.open);
        }
    }
}

/* Whether the phase of this parity is complete. try_wait may sleep: a lane that has looked in vain
 * once does, until it is. */
bool look_at_phase(std::uint64_t address, std::uint64_t parity, bool may_sleep) {
    bool is_complete = get_mbarrier(address).phase % 2 != parity;
    if (!is_complete && may_sleep && fibers[current].has_looked) {
        const cta *home = here;
        wait_while([home, address, parity] {
            const auto found = home->mbarriers.find(address);
            return found != home->mbarriers.end() && found->second.phase % 2 == parity;
        });
        is_complete = get_mbarrier(address).phase % 2 != parity;
    } else if (!is_complete) {
        fibers[current].has_looked = may_sleep;
        yield();
        return false;
    }
    fibers[current].has_looked = false;
    has_progress = true;
    return is_complete;
}

/* mbarrier.arrive[.expect_tx] state, [address], count or bytes; arrive_drop: later phases do not
 * need these arrivals. */
void make_arrival(machine &m, const statement &s, mbarrier &barrier) {
    const std::uint64_t last = s.arguments.size() > 2 ? m.get(s.arguments[2]) : 1;
    const bool has_bytes = has_word(s, "expect_tx");
    const unsigned count = has_bytes ? 1 : (unsigned)last;
    barrier.bytes += has_bytes ? (long long)last : 0;
    if (s.words[1] == "arrive_drop") {
        leave(barrier, count);
    }
    arrive(barrier, count);
}

void use_mbarrier(machine &m, const statement &s) {
    const std::string &what = s.words[1];
    const bool is_test = what == "try_wait" || what == "test_wait";
    const bool is_first =
        what == "init" || what == "inval" || what == "expect_tx" || what == "complete_tx";
    const bool is_for_cluster = has_word(s, "shared::cluster");
    const argument &place = s.arguments[is_first ? 0 : 1];
    const std::uint64_t address = m.get(place.list[0]);
    if (what == "init") {
        const unsigned count = (unsigned)m.get(s.arguments[1]);
        (void)at_smem(address, 8);
        here->mbarriers[address] = {count, count, 0, 0};
    } else if (what == "inval") {
        here->mbarriers.erase(address);
    } else if (what == "expect_tx") {
        get_mbarrier(address, is_for_cluster).bytes += (long long)m.get(s.arguments[1]);
    } else if (what == "complete_tx") {
        mbarrier &barrier = get_mbarrier(address, is_for_cluster);
        barrier.bytes -= (long long)m.get(s.arguments[1]);
        settle(barrier);
    } else if (what == "arrive" || what == "arrive_drop") {
        make_arrival(m, s, get_mbarrier(address, is_for_cluster));
    } else if (is_test) {
        m.set(s.arguments[0],
              look_at_phase(address, m.get(s.arguments[2]) & 1, what == "try_wait") ? 1 : 0);
    } else {
        fail_unknown(s, __func__);
    }
}

/* ---- copies in flight ---- */

/* With an odd seed copies happen later: a load some time, a store at the latest when its lane waits
 * for its group, or ends. */
struct bulk_queue {
    std::vector<std::function<void()>> open;
    std::vector<std::vector<std::function<void()>>> groups;
};
std::vector<std::function<void()>> loads;
std::map<unsigned, bulk_queue> stores; /* by fiber */

/* One copy of those in flight; false if there is none. */
bool land_one(std::mt19937 &random) {
    if (loads.empty()) {
        return false;
    }
    const size_t which = random() % loads.size();
    const std::function<void()> act = loads[which];
    loads.erase(loads.begin() + (std::ptrdiff_t)which);
    act();
    has_progress = true;
    return true;
}

void close_group(unsigned lane) {
    bulk_queue &queue = stores[lane];
    queue.groups.push_back(queue.open);
    queue.open.clear();
}

/* The oldest groups of a lane, until so many are left. */
void land_groups(unsigned lane, size_t left) {
    bulk_queue &queue = stores[lane];
    while (queue.groups.size() > left) {
        for (const std::function<void()> &act : queue.groups.front()) {
            act();
        }
        queue.groups.erase(queue.groups.begin());
    }
}

void land_all_of(unsigned lane) {
    close_group(lane);
    land_groups(lane, 0);
    stores.erase(lane);
}

/* Tensor maps that the kernel has made, by their address in GMEM. */
struct made_map {
    unsigned maker; /* the lane that changed it last */
    bool is_released;
    std::set<unsigned> readers; /* lanes that have acquired it since */
};
std::map<std::uint64_t, made_map> made_maps;

const emulate_map *get_map(std::uint64_t address) {
    const emulate_map *map = nullptr;
    std::memcpy(&map, reinterpret_cast<void *>(address), sizeof map);
    return map;
}

/* The map that a lane's copy names. */
const emulate_map *find_map(std::uint64_t address) {
    const auto made = made_maps.find(address);
    if (made != made_maps.end() && made->second.readers.count(current) == 0) {
        fail("a copy by a tensor map that its lane has not acquired since it was made");
    }
    return get_map(address);
}

/* Changes a copy of the record that the map points to: copies in flight read the map when they
 * land. */
void replace_in_map(machine &m, const statement &s) {
    static std::deque<emulate_map> records;
    const std::uint64_t address = m.get(s.arguments[0].list[0]);
    if (address % 128 != 0 || s.words[2] != "tile" || s.words[4] != "global") {
        fail_unknown(s, __func__);
    }
    unsigned char *slot = at_gmem(address, 128, 8);
    records.push_back(*get_map(address));
    emulate_map &record = records.back();
    if (s.words[3] == "global_address") {
        record.data = reinterpret_cast<unsigned char *>(m.get(s.arguments[1]));
        if (m.get(s.arguments[1]) % 16 != 0) {
            fail("a tensor map of an address that is no multiple of 16");
        }
    } else if (s.words[3] == "global_dim" && m.get(s.arguments[1]) < record.rank &&
               m.get(s.arguments[2]) != 0) {
        record.dims[m.get(s.arguments[1])] = (std::uint32_t)m.get(s.arguments[2]);
    } else {
        fail_unknown(s, __func__);
    }
    const emulate_map *pointer = &record;
    std::memcpy(slot, &pointer, sizeof pointer);
    made_maps[address] = made_map{current, false, {}};
}

/* Fences of the tensormap proxy; of the others nothing is seen here. */
void fence(machine &m, const statement &s) {
    if (!has_word(s, "tensormap::generic")) {
        return;
    }
    if (has_word(s, "release")) {
        for (auto &made : made_maps) {
            made.second.is_released = made.second.is_released || made.second.maker == current;
        }
        return;
    }
    const auto made = made_maps.find(m.get(s.arguments[0].list[0]));
    if (!has_word(s, "acquire") || m.get(s.arguments[1]) != 128) {
        fail_unknown(s, __func__);
    }
    if (made != made_maps.end() && made->second.is_released) {
        made->second.readers.insert(current);
    }
}

/* offsets: of a load in im2col mode. */
void load_box(const emulate_map *map, cta *to, std::uint64_t address, std::uint64_t barrier_address,
              const std::vector<int> &start, const std::vector<unsigned> &offsets) {
    unsigned bytes = map->element_bytes;
    for (unsigned k = 0; k < (offsets.empty() ? map->rank : 2); k++) {
        bytes *= map->box[k];
    }
    if (to->left == 0) {
        fail("a copy to CTA " + std::to_string(to->index) + ", which has ended");
    }
    if (offsets.empty()) {
        copy_box(*map, *to, address, start.data(), "load");
    } else {
        copy_pixels(*map, *to, address, start.data(), offsets);
    }
    mbarrier &barrier = get_mbarrier_of(*to, barrier_address);
    barrier.bytes -= bytes;
    settle(barrier);
}

void do_or_keep(std::vector<std::function<void()>> &kept, const std::function<void()> &act) {
    if (is_lazy) {
        kept.push_back(act);
    } else {
        act();
    }
}

/* cp.async.bulk without a tensor map: bytes, one after another on both sides. */
struct run_of_bytes {
    std::uint64_t smem;
    unsigned char *gmem;
    unsigned bytes;
};

void check_run(const run_of_bytes &run) {
    if (run.smem % 16 != 0 || (std::uint64_t)run.gmem % 16 != 0 || run.bytes % 16 != 0 ||
        run.bytes == 0) {
        fail("a bulk copy's addresses and size are multiples of 16 bytes");
    }
}

void load_run(const run_of_bytes &run, cta *to, std::uint64_t barrier_address) {
    if (to->left == 0) {
        fail("a copy to CTA " + std::to_string(to->index) + ", which has ended");
    }
    std::memcpy(at_smem_of(*to, run.smem, run.bytes), run.gmem, run.bytes);
    mbarrier &barrier = get_mbarrier_of(*to, barrier_address);
    barrier.bytes -= run.bytes;
    settle(barrier);
}

void copy_run(machine &m, const statement &s) {
    const bool is_load = has_word(s, "shared::cluster");
    const unsigned bytes = (unsigned)m.get(s.arguments[2]);
    const run_of_bytes run = {m.get(s.arguments[is_load ? 0 : 1].list[0]),
                              at_gmem(m.get(s.arguments[is_load ? 1 : 0].list[0]), bytes, 16),
                              bytes};
    check_run(run);
    if (!is_load) {
        cta *from = here;
        do_or_keep(stores[current].open, [=] {
            std::memcpy(run.gmem, at_smem_of(*from, run.smem, run.bytes), run.bytes);
        });
        return;
    }
    const std::uint64_t barrier_address = m.get(s.arguments[3].list[0]);
    const std::uint64_t peers =
        has_word(s, "multicast::cluster") ? m.get(s.arguments[4]) : 1ull << here->rank;
    if (peers >> here->peers->ctas.size() != 0) {
        fail("a copy to CTAs that the cluster does not have: " + std::to_string(peers));
    }
    for (cta *to : here->peers->ctas) {
        if ((peers >> to->rank & 1) != 0) {
            do_or_keep(loads, [=] { load_run(run, to, barrier_address); });
        }
    }
}

void use_bulk_groups(machine &m, const statement &s) {
    if (has_word(s, "commit_group")) {
        close_group(current);
    } else if (has_word(s, "wait_group")) {
        land_groups(current, m.get(s.arguments[0]));
    } else {
        fail_unknown(s, __func__);
    }
}

/* Moves nothing; but it names a map, and a coordinate for each of its dimensions. */
void prefetch_tensor(machine &m, const statement &s) {
    const emulate_map *map = find_map(m.get(s.arguments[0].list[0]));
    if (s.arguments[0].list[1].list.size() != map->rank ||
        m.get(s.arguments[0].list[1].list[0]) * map->element_bytes % 16 != 0) {
        fail("a prefetch of another rank than its map, or of rows that start between 16 bytes");
    }
}

void copy_tensor(machine &m, const statement &s) {
    if (has_word(s, "prefetch")) {
        prefetch_tensor(m, s);
        return;
    }
    if (s.words[2] != "bulk" && s.words[1] == "async") {
        copy_async(m, s);
        return;
    }
    if (has_word(s, "global") && !has_word(s, "tensor")) {
        copy_run(m, s);
        return;
    }
    if (!has_word(s, "tensor")) {
        use_bulk_groups(m, s);
        return;
    }
    const bool is_load = has_word(s, "shared::cluster");
    const bool is_multicast = has_word(s, "multicast::cluster");
    const argument &box = s.arguments[is_load ? 1 : 0];
    const argument &smem = s.arguments[is_load ? 0 : 1];
    const std::uint64_t map_address = m.get(box.list[0]);
    const bool is_made = made_maps.count(map_address) != 0;
    const emulate_map *map = find_map(map_address);
    std::vector<int> start(5);
    std::vector<unsigned> offsets;
    const bool is_pixels = has_word(s, "im2col");
    if (is_pixels != (map->spatial_count > 0) || box.list[1].list.size() != map->rank) {
        fail("a tensor copy of another mode or rank than its map");
    }
    for (unsigned k = 0; k < map->rank; k++) {
        start[k] = (int)m.get(box.list[1].list[k]);
    }
    if (is_pixels) {
        for (const argument &offset : s.arguments[3].list) {
            offsets.push_back((unsigned)m.get(offset) & 0xffff);
        }
        if (offsets.size() != map->spatial_count) {
            fail("a load in im2col mode has an offset for each spatial dimension");
        }
    }
    const std::uint64_t address = m.get(smem.list[0]);
    if (!is_load) {
        const std::string op = has_word(s, "reduce") ? s.words[8] : "store";
        cta *from = here;
        do_or_keep(stores[current].open, [=] {
            const emulate_map *seen = is_made ? get_map(map_address) : map;
            copy_box(*seen, *from, address, start.data(), op);
        });
        return;
    }
    const std::uint64_t peers =
        is_multicast ? m.get(s.arguments[is_pixels ? 4 : 3]) : 1ull << here->rank;
    const std::uint64_t barrier_address = m.get(s.arguments[2].list[0]);
    if (peers >> here->peers->ctas.size() != 0) {
        fail("a copy to CTAs that the cluster does not have: " + std::to_string(peers));
    }
    for (cta *to : here->peers->ctas) {
        if ((peers >> to->rank & 1) != 0) {
            do_or_keep(loads, [=] {
                load_box(is_made ? get_map(map_address) : map, to, address, barrier_address, start,
                         offsets);
            });
        }
    }
}

/* ---- wgmma ---- */

unsigned get_operand_bytes(const std::string &type) {
    return type == "tf32" ? 4 : type == "f16" || type == "bf16" ? 2 : 1;
}

/* Address of an element of an operand: mn is its row of a or its column of b. */
std::uint64_t get_operand_address(std::uint64_t descriptor, bool is_turned, unsigned mn, unsigned k,
                                  unsigned bytes) {
    const std::uint64_t start = (descriptor & 0x3fff) << 4;
    const std::uint64_t leading = (descriptor >> 16 & 0x3fff) << 4;
    const std::uint64_t stride = (descriptor >> 32 & 0x3fff) << 4;
    const unsigned mode = (unsigned)(descriptor >> 62);
    const unsigned swizzle = mode == 0 ? 0 : 256u >> mode;
    const unsigned chunk = 16 / bytes;
    if (mode == 0 && !is_turned) {
        return start + k / chunk * leading + mn / 8 * stride + mn % 8 * 16 + k % chunk * bytes;
    }
    if (mode == 0) {
        return start + mn / chunk * stride + k / 8 * leading + k % 8 * 16 + mn % chunk * bytes;
    }
    if (!is_turned) { /* a sparse a's b may take two panels */
        return swizzle_address(start + k * bytes / swizzle * leading + mn / 8 * stride +
                                   mn % 8 * swizzle + k * bytes % swizzle,
                               swizzle);
    }
    const unsigned wide = swizzle / bytes;
    return swizzle_address(start + mn / wide * leading + k / 8 * stride + k % 8 * swizzle +
                               mn % wide * bytes,
                           swizzle);
}

double read_element(const std::string &type, const void *data) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, data, get_operand_bytes(type));
    if (type == "e4m3" || type == "e5m2") {
        return widen(type == "e4m3" ? E4M3 : E5M2, bits);
    }
    if (type == "s8" || type == "u8") {
        return type == "s8" ? (std::int8_t)bits : (int)bits;
    }
    return type == "tf32" ? (double)as_f32(bits & ~0x1fffu) : (double)read_number(type, bits);
}

double read_a(const product &p, unsigned row, unsigned k) {
    if (!p.is_in_registers) {
        return read_element(
            p.a_type, at_smem(get_operand_address(p.a, p.is_turned_a, row, k, p.element_bytes),
                              p.element_bytes));
    }
    /* a register of a lane has 4 bytes of a row, the quad 16 */
    const unsigned per_lane = 4 / p.element_bytes, per_quad = 4 * per_lane;
    const unsigned lane = row % 8 * 4 + k % per_quad / per_lane;
    const unsigned reg = row / 8 % 2 + k / per_quad * 2;
    return read_element(p.a_type, reinterpret_cast<const char *>(&p.rows[lane][reg]) +
                                      k % per_lane * p.element_bytes);
}

/* The row of b that the k-th element of a is multiplied by: of a sparse a what the metadata of its
 * group of 4 (of tf32 of 2) says, four bits in a register of one lane of the quad. */
unsigned find_b(const product &p, unsigned row, unsigned k) {
    if (!p.is_sparse) {
        return k;
    }
    const bool is_byte = p.element_bytes == 1, is_word = p.element_bytes == 4;
    const unsigned group = is_word ? k : k / 2;
    const unsigned in_quad = is_byte ? row / 8 + group / 8 * 2 : p.pair * 2 + group / 4;
    const unsigned bit = is_byte ? group % 8 * 4 : row / 8 * 16 + group % 4 * 4;
    const unsigned code = p.metadata[row % 8 * 4 + in_quad] >> bit & 15;
    if (is_word && code != 0x4 && code != 0xe) {
        fail("metadata of tf32 that is neither 0x4 nor 0xe");
    }
    if (!is_word && (code & 3) == code >> 2) {
        fail("metadata that names an element twice");
    }
    return is_word ? group * 2 + (code == 0xe ? 1 : 0)
                   : group * 4 + (k % 2 == 0 ? code & 3 : code >> 2);
}

/* The sum of an i32 and what the products of one instruction come to. */
std::uint32_t add_integers(std::uint32_t before, double sum, bool is_saturating) {
    const std::int64_t all = (std::int32_t)before + (std::int64_t)sum;
    if (is_saturating) {
        return (std::uint32_t)std::min<std::int64_t>(std::max<std::int64_t>(all, INT32_MIN),
                                                     INT32_MAX);
    }
    return (std::uint32_t)all;
}

/* The elements of a that a warp multiplies: 16 rows of 'depth'. */
std::vector<double> read_rows(const product &p, unsigned warp) {
    std::vector<double> rows(16 * p.depth);
    for (unsigned row = 0; row < 16; row++) {
        for (unsigned k = 0; k < p.depth; k++) {
            rows[row * p.depth + k] = read_a(p, p.is_in_registers ? row : warp % 4 * 16 + row, k);
        }
    }
    return rows;
}

/* K of b. */
unsigned get_whole_depth(const product &p) {
    return p.is_sparse ? 2 * p.depth : p.depth;
}

/* The rows of b that the elements of these 16 rows are multiplied by. */
std::vector<unsigned> find_places(const product &p) {
    std::vector<unsigned> places(16 * p.depth);
    for (unsigned row = 0; row < 16; row++) {
        for (unsigned k = 0; k < p.depth; k++) {
            places[row * p.depth + k] = find_b(p, row, k);
        }
    }
    return places;
}

/* The elements of b: 'cols' columns of its K. */
std::vector<double> read_columns(const product &p) {
    const unsigned whole = get_whole_depth(p);
    std::vector<double> columns(p.cols * whole);
    for (unsigned col = 0; col < p.cols; col++) {
        for (unsigned k = 0; k < whole; k++) {
            const std::uint64_t at =
                get_operand_address(p.b, p.is_turned_b, col, k, p.element_bytes);
            columns[col * whole + k] = read_element(p.b_type, at_smem(at, p.element_bytes));
        }
    }
    return columns;
}

void multiply(const product &p, unsigned warp) {
    const std::vector<double> rows = read_rows(p, warp), columns = read_columns(p);
    const std::vector<unsigned> places = find_places(p);
    const unsigned whole = get_whole_depth(p);
    for (unsigned row = 0; row < 16; row++) {
        for (unsigned col = 0; col < p.cols; col++) {
            const unsigned lane = row % 8 * 4 + col % 8 / 2;
            const unsigned pair = col / 8 * 2 + row / 8;
            double sum = 0; /* exact: of integers, and of the floats that the tests use */
            for (unsigned k = 0; k < p.depth; k++) {
                sum += rows[row * p.depth + k] * columns[col * whole + places[row * p.depth + k]];
            }
            if (p.is_f16) {
                std::uint16_t *to =
                    static_cast<std::uint16_t *>(p.accumulators[lane][pair]) + col % 2;
                const double before = p.is_fresh ? 0 : (double)read_number("f16", *to);
                *to = (std::uint16_t)write_number("f16", before + sum, true);
            } else if (p.is_s32) {
                std::uint32_t *to =
                    static_cast<std::uint32_t *>(p.accumulators[lane][pair * 2 + col % 2]);
                *to = add_integers(p.is_fresh ? 0 : *to, sum, p.is_saturating);
            } else {
                float *to = static_cast<float *>(p.accumulators[lane][pair * 2 + col % 2]);
                *to = (float)((p.is_fresh ? 0 : *to) + sum);
            }
        }
    }
}

/* "m64n16k16" */
unsigned get_extent(const std::string &shape, char letter) {
    return (unsigned)std::stoul(shape.substr(shape.find(letter) + 1));
}

struct wgmma_lane {
    std::vector<void *> accumulators;
    std::vector<std::uint32_t> row;
    std::uint32_t metadata;
};

/* wgmma.mma_async{.sp}.sync.aligned.m64n8k16.f32.bf16.bf16 {c}, a, b{, metadata, pair}, use, .. */
void start_product(machine &m, const statement &s) {
    std::vector<argument> arguments = s.arguments;
    const unsigned warp = threadIdx.x / 32;
    product p = {};
    wgmma_lane mine = {};
    p.is_sparse = s.words[2] == "sp";
    const std::string *words = &s.words[p.is_sparse ? 5 : 4];
    p.cols = get_extent(words[0], 'n');
    p.depth = get_extent(words[0], 'k') / (p.is_sparse ? 2 : 1);
    p.is_f16 = words[1] == "f16";
    p.is_s32 = words[1] == "s32";
    p.is_saturating = has_word(s, "satfinite");
    p.a_type = words[2];
    p.b_type = words[3];
    p.element_bytes = get_operand_bytes(p.a_type);
    p.is_in_registers = arguments[1].is_list;
    if (p.is_sparse) {
        mine.metadata = (std::uint32_t)m.get(arguments[3]);
        p.pair = (unsigned)m.get(arguments[4]);
        arguments.erase(arguments.begin() + 3, arguments.begin() + 5);
        if (p.pair > (p.element_bytes == 1 ? 0u : 1u) || p.depth * p.element_bytes != 32) {
            fail("a sparse wgmma with a selector or a K that it does not have");
        }
    }
    p.b = m.get(arguments[2]);
    p.is_fresh = m.get(arguments[3]) == 0;
    if (!p.is_s32 && (m.get(arguments[4]) != 1 || m.get(arguments[5]) != 1)) {
        fail("a wgmma that does not add its product");
    }
    if (arguments.size() != (p.is_s32               ? 4u
                             : p.element_bytes == 2 ? p.is_in_registers ? 7u : 8u
                                                    : 6u)) {
        fail("a wgmma with too few or too many operands");
    }
    if (p.element_bytes == 2) {
        p.is_turned_a = !p.is_in_registers && m.get(arguments[6]) != 0;
        p.is_turned_b = m.get(arguments.back()) != 0;
    }
    for (const argument &a : arguments[0].list) {
        mine.accumulators.push_back(m.operands.at((size_t)a.operand).target);
    }
    for (const argument &a : arguments[1].list) {
        mine.row.push_back((std::uint32_t)m.get(a));
    }
    p.a = p.is_in_registers ? 0 : m.get(arguments[1]);
    meet(here->warp_meetings[warp], 32, emulate_lane(), &mine, [&](const std::vector<void *> &all) {
        for (void *lane : all) {
            p.accumulators.push_back(static_cast<wgmma_lane *>(lane)->accumulators);
            p.rows.push_back(static_cast<wgmma_lane *>(lane)->row);
            p.metadata.push_back(static_cast<wgmma_lane *>(lane)->metadata);
        }
        if (is_lazy) {
            here->queues[warp].open.push_back(p);
        } else {
            multiply(p, warp);
        }
    });
}

/* ---- mma.sync ---- */

/* What a lane brings to an mma, and where its sums go: 4 registers, or 2 of pairs. */
struct mma_lane {
    std::vector<std::uint32_t> a, b, c;
    std::vector<void *> d;
};

/* The fragments of PTX: of a matrix whose rows a quad shares, a register has 4 bytes of a row. */
double read_fragment(const std::vector<std::uint32_t> &registers, const std::string &type,
                     unsigned k, unsigned reg) {
    const unsigned bytes = get_operand_bytes(type), per_lane = 4 / bytes;
    const std::uint32_t word = registers.at(reg);
    return read_element(type, reinterpret_cast<const char *>(&word) + k % per_lane * bytes);
}

void multiply_fragments(const std::vector<void *> &lanes, const std::vector<std::string> &types,
                        unsigned depth, bool is_saturating) {
    const std::string &sums = types[0];
    const unsigned per_quad = 16 / get_operand_bytes(types[1]);
    const unsigned per_lane = per_quad / 4;
    for (unsigned row = 0; row < 16; row++) {
        for (unsigned col = 0; col < 8; col++) {
            double sum = 0; /* exact: of integers, and of the floats that the tests use */
            for (unsigned k = 0; k < depth; k++) {
                const unsigned in_quad = k % per_quad / per_lane, half = k / per_quad;
                const auto *of_a = static_cast<const mma_lane *>(lanes[row % 8 * 4 + in_quad]);
                const auto *of_b = static_cast<const mma_lane *>(lanes[col * 4 + in_quad]);
                sum += read_fragment(of_a->a, types[1], k, row / 8 + half * 2) *
                       read_fragment(of_b->b, types[2], k, half);
            }
            auto *to = static_cast<mma_lane *>(lanes[row % 8 * 4 + col / 2]);
            const unsigned at = row / 8 * 2 + col % 2;
            if (sums == "f16") {
                const std::uint16_t before = (std::uint16_t)(to->c[at / 2] >> at % 2 * 16);
                static_cast<std::uint16_t *>(to->d[at / 2])[at % 2] = (std::uint16_t)write_number(
                    "f16", (double)read_number("f16", before) + sum, true);
            } else if (sums == "s32") {
                *static_cast<std::uint32_t *>(to->d[at]) =
                    add_integers(to->c[at], sum, is_saturating);
            } else {
                *static_cast<float *>(to->d[at]) = (float)(as_f32(to->c[at]) + sum);
            }
        }
    }
}

/* mma.sync.aligned.m16n8k16.row.col{.satfinite}.f32.f16.f16.f32 {d}, {a}, {b}, {c} */
void multiply_registers(machine &m, const statement &s) {
    const bool is_saturating = has_word(s, "satfinite");
    const auto first = s.words.end() - 4;
    const std::vector<std::string> types(first, s.words.end());
    const unsigned depth = get_extent(s.words[3], 'k');
    mma_lane mine;
    if (s.words.size() != (is_saturating ? 11u : 10u) || s.words[4] != "row" ||
        s.words[5] != "col" || types[3] != types[0] || get_extent(s.words[3], 'm') != 16 ||
        depth * get_operand_bytes(types[1]) != 32 || s.arguments.size() != 4) {
        fail_unknown(s, __func__);
    }
    std::vector<std::uint32_t> *const inputs[] = {&mine.a, &mine.b, &mine.c};
    for (unsigned k = 0; k < 3; k++) {
        for (const argument &a : s.arguments[k + 1].list) {
            inputs[k]->push_back((std::uint32_t)m.get(a));
        }
    }
    for (const argument &a : s.arguments[0].list) {
        mine.d.push_back(m.operands.at((size_t)a.operand).target);
    }
    const unsigned sums = types[0] == "f16" ? 2 : 4;
    if (mine.a.size() != 4 || mine.b.size() != 2 || mine.c.size() != sums ||
        mine.d.size() != sums) {
        fail("an mma with too few or too many registers");
    }
    meet(here->warp_meetings[threadIdx.x / 32], 32, emulate_lane(), &mine,
         [&](const std::vector<void *> &all) {
             multiply_fragments(all, types, depth, is_saturating);
         });
}

void use_wgmma(machine &m, const statement &s) {
    const unsigned warp = threadIdx.x / 32;
    const std::string &what = s.words[1];
    if (what == "mma_async") {
        start_product(m, s);
    } else if (what == "commit_group" || what == "wait_group") {
        meet(here->warp_meetings[warp], 32, emulate_lane(), nullptr,
             [&](const std::vector<void *> &) {
                 warp_queue &queue = here->queues[warp];
                 if (what == "commit_group") {
                     queue.groups.push_back(queue.open);
                     queue.open.clear();
                 }
                 while (what == "wait_group" && queue.groups.size() > m.get(s.arguments[0])) {
                     for (const product &p : queue.groups.front()) {
                         multiply(p, warp);
                     }
                     queue.groups.erase(queue.groups.begin());
                 }
             });
    } else if (what != "fence") {
        fail_unknown(s, __func__);
    }
}

typedef void instruction(machine &m, const statement &s);

void do_nothing(machine &, const statement &) {}
/* elect.sync leader|chosen, mask */
void elect(machine &m, const statement &s) {
    const std::string &both = s.arguments[0].name;
    const size_t bar = both.find('|');
    m.registers[both.substr(0, bar)] = 0;
    m.registers[both.substr(bar + 1)] = emulate_lane() == 0 ? 1 : 0;
}
void pick(machine &m, const statement &s) {
    m.set(s.arguments[0], m.get(s.arguments[m.get(s.arguments[3]) != 0 ? 1 : 2]));
}
void use_cluster(machine &, const statement &s) {
    if (s.words[1] != "cluster" || (s.words[2] != "arrive" && s.words[2] != "wait")) {
        fail_unknown(s, __func__);
    }
    use_cluster_barrier(s.words[2] == "arrive");
}
void map_peer(machine &m, const statement &s) {
    const std::uint64_t rank = m.get(s.arguments[2]) & 0xffffffff;
    if (m.get(s.arguments[1]) >> PEER_SHIFT != 0 || rank >= here->peers->ctas.size()) {
        fail("mapa of address " + std::to_string(m.get(s.arguments[1])) + " to CTA " +
             std::to_string(rank));
    }
    m.set(s.arguments[0], m.get(s.arguments[1]) | (rank + 1) << PEER_SHIFT);
}
void store_or_async(machine &m, const statement &s) {
    if (has_word(s, "async")) {
        access_async(m, s);
    } else if (s.words[0] == "red") {
        do_atomic(m, s);
    } else {
        access_memory(m, s);
    }
}
/* bar.sync id[, n]; bar.arrive id, n; bar.red.and.pred all, id, n, mine */
void synchronise(machine &m, const statement &s) {
    const bool is_vote = s.words[1] == "red";
    const unsigned id = (unsigned)m.get(s.arguments[is_vote ? 1 : 0]);
    const bool is_whole = s.arguments.size() == 1; // all lanes of the CTA
    const unsigned lanes = is_whole ? blockDim.x : (unsigned)m.get(s.arguments[is_vote ? 2 : 1]);
    if (id > 15) {
        fail("named barrier " + std::to_string(id));
    }
    if (is_vote) {
        m.set(s.arguments[0], sync_named(id, lanes, m.get(s.arguments[3]) != 0) ? 1 : 0);
    } else if (s.words[1] == "arrive") {
        arrive_named(here->named_barriers[id], lanes, true);
    } else {
        sync_named(id, lanes);
    }
}
void set_predicate(machine &m, const statement &s) {
    if (s.words[1] == "neu" && s.words[2] == "f32") {
        const bool is_same = as_f32(m.get(s.arguments[1])) == as_f32(m.get(s.arguments[2]));
        m.set(s.arguments[0], is_same ? 0 : 1);
        return;
    }
    if (s.words[1] != "ne") {
        fail_unknown(s, __func__);
    }
    m.set(s.arguments[0], m.get(s.arguments[1]) != m.get(s.arguments[2]) ? 1 : 0);
}
/* Bit k of the result is bit (a, b, c) of the table. */
void look_up(machine &m, const statement &s) {
    const std::uint64_t a = m.get(s.arguments[1]), b = m.get(s.arguments[2]),
                        c = m.get(s.arguments[3]), table = m.get(s.arguments[4]);
    std::uint64_t bits = 0;
    for (unsigned k = 0; k < 32; k++) {
        const unsigned at = (a >> k & 1) << 2 | (b >> k & 1) << 1 | (c >> k & 1);
        bits |= (table >> at & 1) << k;
    }
    m.set(s.arguments[0], bits);
}

void permute_bytes(machine &m, const statement &s) {
    if (s.words.size() != 2) {
        fail_unknown(s, __func__);
    }
    const std::uint64_t both = (m.get(s.arguments[1]) & 0xffffffff) | m.get(s.arguments[2]) << 32;
    const std::uint64_t selector = m.get(s.arguments[3]);
    std::uint64_t bits = 0;
    for (unsigned k = 0; k < 4; k++) {
        const std::uint64_t select = selector >> 4 * k & 15;
        std::uint64_t byte = both >> 8 * (select & 7) & 0xff;
        byte = (select & 8) != 0 ? (byte >> 7) * 0xff : byte;
        bits |= byte << 8 * k;
    }
    m.set(s.arguments[0], bits);
}

unsigned count_bits(const statement &s) {
    const std::string &type = s.words.back();
    return (unsigned)std::stoul(type.substr(1));
}

void combine_bits(machine &m, const statement &s) {
    const std::uint64_t a = m.get(s.arguments[1]), b = m.get(s.arguments[2]);
    const std::string &name = s.words[0];
    const unsigned bits = count_bits(s);
    m.set(s.arguments[0], (name == "and"  ? a & b
                           : name == "or" ? a | b
                                          : a ^ b) &
                              (bits == 64 ? ~0ull : (1ull << bits) - 1));
}

/* The sum of two: floats are rounded once, integers wrap. */
void add_two(machine &m, const statement &s) {
    const std::string &type = s.words.back();
    const std::uint64_t a = m.get(s.arguments[1]), b = m.get(s.arguments[2]);
    if (type == "f64") {
        double x, y;
        std::memcpy(&x, &a, 8);
        std::memcpy(&y, &b, 8);
        x += y;
        std::uint64_t bits;
        std::memcpy(&bits, &x, 8);
        m.set(s.arguments[0], bits);
    } else if (type == "f32") {
        m.set(s.arguments[0], of_f32(as_f32(a) + as_f32(b)));
    } else if (type == "u32" || type == "s32" || type == "u64" || type == "s64") {
        m.set(s.arguments[0], count_bits(s) == 32 ? (a + b) & 0xffffffff : a + b);
    } else {
        fail_unknown(s, __func__);
    }
}

/* sub.rn.bf16x2 */
void subtract_pairs(machine &m, const statement &s) {
    const std::string &pair = s.words.back();
    if (s.words.size() != 3 || s.words[1] != "rn" || (pair != "f16x2" && pair != "bf16x2")) {
        fail_unknown(s, __func__);
    }
    const std::string type = pair.substr(0, pair.size() - 2);
    const std::uint64_t a = m.get(s.arguments[1]), b = m.get(s.arguments[2]);
    std::uint64_t bits = 0;
    for (unsigned at = 0; at < 32; at += 16) {
        const long double difference =
            read_number(type, a >> at & 0xffff) - read_number(type, b >> at & 0xffff);
        bits |= write_number(type, difference, false) << at;
    }
    m.set(s.arguments[0], bits);
}

void move(machine &m, const statement &s) {
    std::uint64_t bits = 0;
    if (s.arguments[1].is_list) {
        bits = (m.get(s.arguments[1].list[0]) & 0xffffffff) | m.get(s.arguments[1].list[1]) << 32;
    } else {
        bits = m.get(s.arguments[1]);
    }
    m.set(s.arguments[0], bits);
}

instruction *find_instruction(const statement &s) {
    static const std::map<std::string, instruction *> instructions = {
        {"cvt", convert},
        {"min", take_extreme},
        {"max", take_extreme},
        {"shl", shift},
        {"shr", shift},
        {"ex2", approximate},
        {"lg2", approximate},
        {"sin", approximate},
        {"cos", approximate},
        {"tanh", approximate},
        {"rsqrt", approximate},
        {"rcp", approximate},
        {"ld", access_memory},
        {"st", store_or_async},
        {"red", store_or_async},
        {"mapa", map_peer},
        {"barrier", use_cluster},
        {"ldmatrix", move_matrices},
        {"stmatrix", move_matrices},
        {"mbarrier", use_mbarrier},
        {"cp", copy_tensor},
        {"fence", fence},
        {"prefetch", do_nothing},
        {"tensormap", replace_in_map},
        {"griddepcontrol", do_nothing},
        {"setmaxnreg", do_nothing},
        {"elect", elect},
        {"selp", pick},
        {"bar", synchronise},
        {"setp", set_predicate},
        {"atom", do_atomic},
        {"mov", move},
        {"lop3", look_up},
        {"prmt", permute_bytes},
        {"and", combine_bits},
        {"or", combine_bits},
        {"xor", combine_bits},
        {"add", add_two},
        {"sub", subtract_pairs},
        {"wgmma", use_wgmma},
        {"mma", multiply_registers},
    };
    auto found = instructions.find(s.words[0]);
    if (found == instructions.end()) {
        fail_unknown(s, __func__);
    }
    return found->second;
}

/* Where a branch goes: a label of the same asm statement. */
size_t find_label(const program &statements, const statement &branch) {
    const std::string &label = branch.arguments[0].name;
    for (size_t k = 0; k < statements.size(); k++) {
        if (statements[k].label == label) {
            return k;
        }
    }
    fail("the PTX '" + branch.text + "' has no such label");
}

void run_statement(machine &m, const statement &s) {
    try {
        find_instruction(s)(m, s);
    } catch (const std::exception &error) {
        fail("the PTX '" + s.text + "' is not understood: " + error.what());
    }
}

} // namespace

void emulate_asm(const char *text, std::initializer_list<emulate_operand> outputs,
                 std::initializer_list<emulate_operand> inputs) {
    machine m;
    m.operands.insert(m.operands.end(), outputs.begin(), outputs.end());
    m.operands.insert(m.operands.end(), inputs.begin(), inputs.end());
    const program &statements = get_program(text);
    for (size_t k = 0; k < statements.size();) {
        const statement &s = statements[k++];
        if (!s.guard.empty() && (m.registers[s.guard] != 0) == s.is_guard_negated) {
            continue;
        }
        if (s.words[0] == "bra") {
            k = find_label(statements, s);
        } else {
            run_statement(m, s);
        }
    }
}

unsigned emulate_lane() {
    return threadIdx.x % 32;
}

unsigned emulate_shuffle(unsigned value, unsigned lane) {
    struct {
        unsigned value, from, result;
    } mine = {value, lane, 0};
    typedef decltype(mine) place;
    meet(here->warp_meetings[threadIdx.x / 32], 32, emulate_lane(), &mine,
         [](const std::vector<void *> &all) {
             for (void *p : all) {
                 static_cast<place *>(p)->result =
                     static_cast<place *>(all[static_cast<place *>(p)->from % 32])->value;
             }
         });
    return mine.result;
}

void __syncthreads() {
    sync_named(0, blockDim.x);
}
void __syncwarp() {
    meet(here->warp_meetings[threadIdx.x / 32], 32, emulate_lane(), nullptr,
         [](const std::vector<void *> &) {});
}
std::uint64_t __cvta_generic_to_shared(const void *pointer) {
    return SMEM_START +
           (std::uint64_t)(static_cast<const unsigned char *>(pointer) - grout_dynamic_smem);
}
void __nanosleep(unsigned) {
    yield();
}
bool __all_sync(unsigned, bool is_true) {
    bool all = is_true;
    meet(here->warp_meetings[threadIdx.x / 32], 32, emulate_lane(), &all,
         [](const std::vector<void *> &lanes) {
             bool is_all = true;
             for (void *lane : lanes) {
                 is_all = is_all && *static_cast<bool *>(lane);
             }
             for (void *lane : lanes) {
                 *static_cast<bool *>(lane) = is_all;
             }
         });
    return all;
}
void __trap() {
    fail("trap");
}

/* ---- launches ---- */

emulate_array emulate_output(const char *path, std::uint64_t size, const char *input) {
    emulate_array array = {
        static_cast<unsigned char *>(std::aligned_alloc(256, (size + 511) / 256 * 256)), size, path,
        input != path};
    FILE *file = std::fopen(input, "rb");
    if (file == nullptr || std::fread(array.data, 1, size, file) != size) {
        fail(std::string("cannot read ") + input);
    }
    std::fclose(file);
    arrays.push_back(array);
    return array;
}

emulate_array emulate_workspace(const std::vector<unsigned char> &pattern, std::uint64_t size) {
    emulate_array array = {
        static_cast<unsigned char *>(std::aligned_alloc(256, (size + 511) / 256 * 256)), size,
        nullptr, false};
    for (std::uint64_t k = 0; k < size; k++) {
        array.data[k] = pattern[k % pattern.size()];
    }
    arrays.push_back(array);
    return array;
}

emulate_array emulate_read(const char *path, std::uint64_t size) {
    return emulate_output(path, size, path);
}

void emulate_write() {
    for (const emulate_array &array : arrays) {
        FILE *file = array.is_output ? std::fopen(array.path, "wb") : nullptr;
        if (array.is_output &&
            (file == nullptr || std::fwrite(array.data, 1, array.size, file) != array.size ||
             std::fclose(file) != 0)) {
            fail(std::string("cannot write ") + array.path);
        }
    }
}

static void (*kernel_run)(void *payload);
static void *kernel_payload;

static void run_fiber() {
    kernel_run(kernel_payload);
    land_all_of(current);
    fibers[current].is_done = true;
    here->left--;
    settle_cluster(*here->peers);
    has_progress = true;
    yield();
}

static void start_fiber(fiber &f, cta &home, unsigned lane) {
    f.home = &home;
    f.lane = lane;
    f.is_done = false;
    f.has_arrived = false;
    f.generation = 0;
    f.has_looked = false;
    f.is_blocked = nullptr;
    f.open.clear();
    f.groups.clear();
    if (f.stack == nullptr) {
        f.stack = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack;
    f.context.uc_stack.ss_size = STACK_BYTES;
    f.context.uc_link = nullptr;
    makecontext(&f.context, run_fiber, 0);
}

/* Goes on with a fiber until it waits or ends. */
static void resume(unsigned number) {
    current = number;
    here = fibers[number].home;
    threadIdx = {fibers[number].lane, 0, 0};
    blockIdx = {here->index, 0, 0};
    swapcontext(&scheduler, &fibers[number].context);
}

/* All fibers there are, to their end. */
static void run_fibers(std::mt19937 &random) {
    std::vector<unsigned> order(fibers.size());
    for (unsigned k = 0; k < order.size(); k++) {
        order[k] = k;
    }
    /* By warp: rounds that it is left behind. */
    std::vector<unsigned> sleeping((fibers.size() + 31) / 32);
    bool is_stuck = false;
    for (size_t left = fibers.size(), idle = 0; left > 0;) {
        std::shuffle(order.begin(), order.end(), random);
        has_progress = false;
        bool is_anyone_asleep = false;
        for (unsigned &rounds : sleeping) {
            rounds = is_stuck ? 0 : rounds > 0 ? rounds - 1 : random() % 4 == 0 ? random() % 64 : 0;
            is_anyone_asleep = is_anyone_asleep || rounds > 0;
        }
        for (unsigned k : order) {
            const fiber &f = fibers[k];
            if (!f.is_done && sleeping[k / 32] == 0 &&
                (f.is_blocked == nullptr || !(*f.is_blocked)())) {
                resume(k);
                left -= f.is_done ? 1 : 0;
            }
        }
        is_stuck = !has_progress; /* then all wake up */
        while (random() % 2 == 0 && land_one(random)) {
        }
        idle = has_progress ? 0 : idle + (is_anyone_asleep ? 0 : 1);
        if (idle > 1 && land_one(random)) {
            idle = 0;
        }
        if (idle > 4) {
            fail("deadlock: " + std::to_string(left) + " lanes wait");
        }
    }
}

/* CTAs first to first + count of the launch, whole clusters, side by side. */
static void run_ctas(unsigned first, unsigned count, const emulate_shape &shape,
                     std::mt19937 &random) {
    std::vector<cluster> clusters(count / shape.cluster);
    std::vector<cta> ctas(count);
    fibers.resize((size_t)count * shape.block, fiber());
    for (unsigned k = 0; k < count; k++) {
        ctas[k].index = first + k;
        ctas[k].rank = k % shape.cluster;
        ctas[k].left = shape.block;
        ctas[k].peers = &clusters[k / shape.cluster];
        ctas[k].peers->ctas.push_back(&ctas[k]);
        ctas[k].smem.assign(smem_bytes, 0xa5);
        for (unsigned lane = 0; lane < shape.block; lane++) {
            start_fiber(fibers[(size_t)k * shape.block + lane], ctas[k], lane);
        }
    }
    run_fibers(random);
}

void emulate_launch(const emulate_shape &shape, void (*run)(void *payload), void *payload) {
    std::mt19937 random(shape.seed);
    is_lazy = shape.seed % 2 != 0;
    kernel_run = run;
    kernel_payload = payload;
    smem_bytes = shape.smem_bytes;
    blockDim = {shape.block, 1, 1};
    const unsigned together = shape.is_resident ? shape.grid : shape.cluster;
    for (unsigned first = 0; first < shape.grid; first += together) {
        run_ctas(first, together, shape, random);
    }
}
