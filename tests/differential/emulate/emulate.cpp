/*
 * emulate.cpp - a CTA on the CPU: fibers for CUDA threads, SMEM, and the PTX that the device header
 * uses.
 *
 * A fiber runs until it has to wait: in a shuffle, a matrix instruction or a wgmma for the other
 * lanes, in a barrier, for a phase of an mbarrier. So lanes run far ahead of each other, in an
 * order that the seed chooses, whole warps stay behind for a while, and what lacks a barrier goes
 * wrong. Copies happen at once. A wgmma happens at once with an even seed; with an odd one as late
 * as it may, each warp's rows when the warp waits for the group, and what is overwritten or read
 * before goes wrong, too.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "emulate.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <unordered_map>
#include <vector>

uint3 threadIdx, blockIdx, blockDim;
alignas(1024) unsigned char grout_dynamic_smem[256 * 1024];

namespace {

constexpr unsigned SMEM_START = 1024; /* address of the first byte of dynamic SMEM */
constexpr size_t STACK_BYTES = 1 << 20;

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "emulate: cta %u lane %u: %s\n", blockIdx.x, threadIdx.x, what.c_str());
    std::exit(2);
}

/* ---- fibers ---- */

struct fiber {
    ucontext_t context;
    void *stack;
    bool is_done;
};
std::vector<fiber> fibers;
ucontext_t scheduler;
unsigned current;
bool has_progress; /* some fiber did more than look whether it may go on */

void yield() {
    swapcontext(&fibers[current].context, &scheduler);
}

/* Waits as long as is_blocked says so. */
void wait_while(const std::function<bool()> &is_blocked) {
    while (is_blocked()) {
        yield();
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
std::map<unsigned, meeting> warp_meetings, group_meetings;

/* ---- named barriers ---- */

struct named_barrier {
    unsigned count = 0, generation = 0;
};
std::map<unsigned, named_barrier> named_barriers;

void sync_named(unsigned id, unsigned lanes) {
    named_barrier &barrier = named_barriers[id];
    if (++barrier.count == lanes) {
        barrier.count = 0;
        barrier.generation++;
        has_progress = true;
        return;
    }
    const unsigned generation = barrier.generation;
    wait_while([&] { return barrier.generation == generation; });
}

/* ---- memory ---- */

unsigned smem_bytes;
std::vector<emulate_array> arrays;

unsigned char *at_smem(std::uint64_t address, unsigned size) {
    if (address < SMEM_START || address + size > SMEM_START + smem_bytes) {
        fail("SMEM address " + std::to_string(address) + " outside");
    }
    if (address % size != 0 && size <= 16) {
        fail("SMEM address " + std::to_string(address) + " not a multiple of " +
             std::to_string(size));
    }
    return grout_dynamic_smem + (address - SMEM_START);
}
unsigned char *at_gmem(std::uint64_t address, unsigned size) {
    unsigned char *pointer = reinterpret_cast<unsigned char *>(address);
    for (const emulate_array &array : arrays) {
        if (pointer >= array.data && pointer + size <= array.data + array.size) {
            if (address % size != 0) {
                fail("GMEM address not a multiple of " + std::to_string(size));
            }
            return pointer;
        }
    }
    fail("GMEM address outside all arrays");
}

/* ---- mbarriers ---- */

struct mbarrier {
    unsigned arrivals = 0, pending = 0, phase = 0;
    long long bytes = 0;
};
std::map<std::uint64_t, mbarrier> mbarriers;

mbarrier &get_mbarrier(std::uint64_t address) {
    auto found = mbarriers.find(address);
    if (found == mbarriers.end()) {
        fail("no mbarrier at " + std::to_string(address));
    }
    return found->second;
}
void settle(mbarrier &barrier) {
    if (barrier.pending == 0 && barrier.bytes == 0) {
        barrier.phase++;
        barrier.pending = barrier.arrivals;
    }
    has_progress = true;
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

/* The box of a map at these coordinates, element by element; outside, zeros come in and nothing
 * goes out. */
void copy_box(const emulate_map &map, std::uint64_t smem, const int *start, bool is_load) {
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
            is_inside = is_inside && at >= 0 && at < (long long)map.dims[k];
            offset += (std::uint64_t)at * map.strides[k];
            row = k > 0 ? row * map.box[k] + index[k] : row;
        }
        unsigned char *to =
            at_smem(swizzle_address(smem + row * pitch + index[0] * width, map.swizzle), width);
        if (is_load && is_inside) {
            std::memcpy(to, map.data + offset, width);
        } else if (is_load) {
            std::memset(to, 0, width);
        } else if (is_inside) {
            std::memcpy(map.data + offset, to, width);
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

/* ---- PTX text ---- */

/* "{%0, %1}" and "[%0, {%1}]" are lists; everything else is a name, a number or an operand. */
struct argument {
    int operand = -1; /* of %N */
    std::string name;
    std::vector<argument> list;
    bool is_list = false;
};
struct statement {
    std::string text, guard;
    std::vector<std::string> words; /* of the mnemonic */
    std::vector<argument> arguments;
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

/* Statements end with ';'. Braces around all of them make a scope, which changes nothing here. */
program parse(std::string text) {
    program statements;
    text = strip(text);
    if (!text.empty() && text.front() == '{') {
        text = text.substr(1, text.rfind('}') - 1);
    }
    for (std::string part : split(text, ';')) {
        statement s;
        s.text = part;
        if (part.rfind(".reg", 0) == 0) {
            continue;
        }
        if (part.front() == '@') {
            const size_t space = part.find(' ');
            s.guard = part.substr(1, space - 1);
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

/* ld.shared.v4.b32 {..}, [address]; st.global.b32 [address], value */
void access_memory(machine &m, const statement &s) {
    const bool is_load = s.words[0] == "ld";
    const argument &address = s.arguments[is_load ? 1 : 0], &value = s.arguments[is_load ? 0 : 1];
    const unsigned bytes = get_type_bytes(s.words.back());
    const unsigned count = value.is_list ? (unsigned)value.list.size() : 1;
    const std::uint64_t at = m.get(address.list[0]);
    unsigned char *data =
        has_word(s, "global") ? at_gmem(at, bytes * count) : at_smem(at, bytes * count);
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
    meet(warp_meetings[threadIdx.x / 32], 32, lane, &mine, [&](const std::vector<void *> &all) {
        for (unsigned k = 0; k < count * 64; k++) {
            const unsigned matrix = k / 64, row = k / 8 % 8, col = k % 8;
            const unsigned run = is_transposed ? col : row, element = is_transposed ? row : col;
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

void use_mbarrier(machine &m, const statement &s) {
    const std::string &what = s.words[1];
    const bool is_test = what == "try_wait" || what == "test_wait";
    const argument &place = s.arguments[what == "init" || what == "inval" ? 0 : 1];
    const std::uint64_t address = m.get(place.list[0]);
    if (what == "init") {
        const unsigned count = (unsigned)m.get(s.arguments[1]);
        (void)at_smem(address, 8);
        mbarriers[address] = {count, count, 0, 0};
    } else if (what == "inval") {
        mbarriers.erase(address);
    } else if (what == "arrive" && has_word(s, "expect_tx")) {
        get_mbarrier(address).bytes += (long long)m.get(s.arguments[2]);
        arrive(get_mbarrier(address), 1);
    } else if (what == "arrive") {
        arrive(get_mbarrier(address), s.arguments.size() > 2 ? (unsigned)m.get(s.arguments[2]) : 1);
    } else if (is_test) {
        const bool is_complete = get_mbarrier(address).phase % 2 != (m.get(s.arguments[2]) & 1);
        m.set(s.arguments[0], is_complete ? 1 : 0);
        if (is_complete) {
            has_progress = true;
        } else {
            yield();
        }
    } else {
        fail(s.text);
    }
}

void copy_tensor(machine &m, const statement &s) {
    if (!has_word(s, "tensor")) { /* commit_group, wait_group: copies are complete at once */
        return;
    }
    const bool is_load = has_word(s, "shared::cluster");
    const argument &box = s.arguments[is_load ? 1 : 0];
    const argument &smem = s.arguments[is_load ? 0 : 1];
    const emulate_map *map = nullptr;
    int start[5] = {0};
    std::memcpy(&map, reinterpret_cast<void *>(m.get(box.list[0])), sizeof map);
    unsigned bytes = map->element_bytes;
    for (unsigned k = 0; k < map->rank; k++) {
        start[k] = (int)m.get(box.list[1].list[k]);
        bytes *= map->box[k];
    }
    copy_box(*map, m.get(smem.list[0]), start, is_load);
    if (is_load) {
        mbarrier &barrier = get_mbarrier(m.get(s.arguments[2].list[0]));
        barrier.bytes -= bytes;
        settle(barrier);
    }
}

/* ---- wgmma ---- */

/* What one warp does of a wgmma: its 16 rows. Lanes' registers stay where they are until then. */
struct product {
    unsigned cols, depth, element_bytes;
    std::string type; /* of a and b: f16, bf16, tf32 */
    bool is_f16;      /* the accumulator's elements, in pairs */
    bool is_turned_a, is_turned_b, is_in_registers;
    std::uint64_t a, b;                            /* descriptors */
    std::vector<std::vector<void *>> accumulators; /* by lane */
    std::vector<std::vector<std::uint32_t>> rows;  /* the same, of a in registers */
};
struct warp_queue {
    std::vector<product> open;
    std::vector<std::vector<product>> groups;
};
std::map<unsigned, warp_queue> queues;
bool is_lazy;

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
    if (!is_turned) {
        return swizzle_address(start + mn / 8 * stride + mn % 8 * swizzle + k * bytes, swizzle);
    }
    const unsigned wide = swizzle / bytes;
    return swizzle_address(start + mn / wide * leading + k / 8 * stride + k % 8 * swizzle +
                               mn % wide * bytes,
                           swizzle);
}

double read_element(const product &p, const void *data) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, data, p.element_bytes);
    return p.type == "tf32" ? (double)as_f32(bits & ~0x1fffu) : (double)read_number(p.type, bits);
}

double read_a(const product &p, unsigned row, unsigned k) {
    if (!p.is_in_registers) {
        return read_element(
            p, at_smem(get_operand_address(p.a, p.is_turned_a, row, k, p.element_bytes),
                       p.element_bytes));
    }
    const unsigned lane = row % 8 * 4 + k % 8 / 2, reg = row / 8 % 2 + k / 8 * 2;
    return read_element(p, reinterpret_cast<const char *>(&p.rows[lane][reg]) + k % 2 * 2);
}

void multiply(const product &p, unsigned warp) {
    for (unsigned row = 0; row < 16; row++) {
        for (unsigned col = 0; col < p.cols; col++) {
            const unsigned lane = row % 8 * 4 + col % 8 / 2;
            const unsigned pair = col / 8 * 2 + row / 8;
            double sum = 0;
            for (unsigned k = 0; k < p.depth; k++) {
                const std::uint64_t at =
                    get_operand_address(p.b, p.is_turned_b, col, k, p.element_bytes);
                const unsigned a_row = p.is_in_registers ? row : warp % 4 * 16 + row;
                sum += read_a(p, a_row, k) * read_element(p, at_smem(at, p.element_bytes));
            }
            if (p.is_f16) {
                std::uint16_t *to =
                    static_cast<std::uint16_t *>(p.accumulators[lane][pair]) + col % 2;
                *to = (std::uint16_t)write_number("f16", read_number("f16", *to) + sum, true);
            } else {
                float *to = static_cast<float *>(p.accumulators[lane][pair * 2 + col % 2]);
                *to = (float)(*to + sum);
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
};

void start_product(machine &m, const statement &s) {
    const std::vector<argument> &arguments = s.arguments;
    const unsigned warp = threadIdx.x / 32;
    product p = {};
    wgmma_lane mine;
    p.cols = get_extent(s.words[4], 'n');
    p.depth = get_extent(s.words[4], 'k');
    p.is_f16 = s.words[5] == "f16";
    p.type = s.words[6];
    p.element_bytes = p.type == "tf32" ? 4 : 2;
    p.is_in_registers = arguments[1].is_list;
    p.b = m.get(arguments[2]);
    if (m.get(arguments[3]) != 1 || m.get(arguments[4]) != 1 || m.get(arguments[5]) != 1) {
        fail("a wgmma that does not add its product");
    }
    if (p.type != "tf32") {
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
    meet(warp_meetings[warp], 32, emulate_lane(), &mine, [&](const std::vector<void *> &all) {
        for (void *lane : all) {
            p.accumulators.push_back(static_cast<wgmma_lane *>(lane)->accumulators);
            p.rows.push_back(static_cast<wgmma_lane *>(lane)->row);
        }
        if (is_lazy) {
            queues[warp].open.push_back(p);
        } else {
            multiply(p, warp);
        }
    });
}

void use_wgmma(machine &m, const statement &s) {
    const unsigned warp = threadIdx.x / 32;
    const std::string &what = s.words[1];
    if (what == "mma_async") {
        start_product(m, s);
    } else if (what == "commit_group" || what == "wait_group") {
        meet(warp_meetings[warp], 32, emulate_lane(), nullptr, [&](const std::vector<void *> &) {
            warp_queue &queue = queues[warp];
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
    }
}

typedef void instruction(machine &m, const statement &s);

void do_nothing(machine &, const statement &) {}
void elect(machine &m, const statement &) {
    m.registers["p"] = emulate_lane() == 0 ? 1 : 0;
}
void pick(machine &m, const statement &s) {
    m.set(s.arguments[0], m.get(s.arguments[m.get(s.arguments[3]) != 0 ? 1 : 2]));
}
void synchronise(machine &m, const statement &s) {
    sync_named((unsigned)m.get(s.arguments[0]), (unsigned)m.get(s.arguments[1]));
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
        {"st", access_memory},
        {"ldmatrix", move_matrices},
        {"stmatrix", move_matrices},
        {"mbarrier", use_mbarrier},
        {"cp", copy_tensor},
        {"fence", do_nothing},
        {"prefetch", do_nothing},
        {"setmaxnreg", do_nothing},
        {"elect", elect},
        {"selp", pick},
        {"bar", synchronise},
        {"mov", move},
        {"wgmma", use_wgmma},
    };
    auto found = instructions.find(s.words[0]);
    if (found == instructions.end()) {
        fail("unknown instruction: " + s.text);
    }
    return found->second;
}

} // namespace

void emulate_asm(const char *text, std::initializer_list<emulate_operand> outputs,
                 std::initializer_list<emulate_operand> inputs) {
    machine m;
    m.operands.insert(m.operands.end(), outputs.begin(), outputs.end());
    m.operands.insert(m.operands.end(), inputs.begin(), inputs.end());
    for (const statement &s : get_program(text)) {
        if (s.guard.empty() || m.registers[s.guard] != 0) {
            find_instruction(s)(m, s);
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
    meet(warp_meetings[threadIdx.x / 32], 32, emulate_lane(), &mine,
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
    meet(warp_meetings[threadIdx.x / 32], 32, emulate_lane(), nullptr,
         [](const std::vector<void *> &) {});
}
std::uint64_t __cvta_generic_to_shared(const void *pointer) {
    return SMEM_START +
           (std::uint64_t)(static_cast<const unsigned char *>(pointer) - grout_dynamic_smem);
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
    fibers[current].is_done = true;
    has_progress = true;
    yield();
}

static void run_cta(unsigned block, std::mt19937 &random) {
    std::vector<unsigned> order(block);
    std::memset(grout_dynamic_smem, 0xa5, sizeof grout_dynamic_smem);
    warp_meetings.clear();
    named_barriers.clear();
    mbarriers.clear();
    queues.clear();
    for (unsigned k = 0; k < block; k++) {
        order[k] = k;
        fibers[k].is_done = false;
        getcontext(&fibers[k].context);
        fibers[k].context.uc_stack.ss_sp = fibers[k].stack;
        fibers[k].context.uc_stack.ss_size = STACK_BYTES;
        fibers[k].context.uc_link = nullptr;
        makecontext(&fibers[k].context, run_fiber, 0);
    }
    std::vector<unsigned> sleeping((block + 31) / 32); /* by warp: rounds that it is left behind */
    for (unsigned left = block, idle = 0; left > 0;) {
        std::shuffle(order.begin(), order.end(), random);
        has_progress = false;
        bool is_anyone_asleep = false;
        for (unsigned &rounds : sleeping) {
            rounds = rounds > 0 ? rounds - 1 : random() % 4 == 0 ? random() % 64 : 0;
            is_anyone_asleep = is_anyone_asleep || rounds > 0;
        }
        for (unsigned k : order) {
            if (!fibers[k].is_done && sleeping[k / 32] == 0) {
                current = k;
                threadIdx = {k, 0, 0};
                swapcontext(&scheduler, &fibers[k].context);
                left -= fibers[k].is_done ? 1 : 0;
            }
        }
        idle = has_progress ? 0 : idle + (is_anyone_asleep ? 0 : 1);
        if (idle > 4) {
            fail("deadlock: " + std::to_string(left) + " lanes wait");
        }
    }
}

void emulate_launch(unsigned grid, unsigned block, unsigned bytes, unsigned seed,
                    void (*run)(void *payload), void *payload) {
    std::mt19937 random(seed);
    is_lazy = seed % 2 != 0;
    kernel_run = run;
    kernel_payload = payload;
    smem_bytes = bytes;
    blockDim = {block, 1, 1};
    fibers.resize(block);
    for (fiber &f : fibers) {
        f.stack = mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    for (unsigned cta = 0; cta < grid; cta++) {
        blockIdx = {cta, 0, 0};
        run_cta(block, random);
    }
}
