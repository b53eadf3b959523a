//! The entropy coder: rANS (Duda, "Asymmetric numeral systems", 2013), with four interleaved states and words of 16
//! bits (the variant of Giesen, "Interleaved entropy coders", 2014).
//!
//! States lie between 2^15 and 2^31, so that every step fits 32 bits with a sign, as browsers calculate. Probabilities
//! are multiples of 1/4096.

use super::encode::pays;
use super::{Codec, Effort, Integer, decode, encode};
use crate::kernels::{Word, mask, vectorised};
use crate::packed::bytes::{Input, Output, Result};

/// What a value is taken to need longer than packed, on both sides together: about as long as on a server of 2023.
pub(in crate::packed) const NANOSECONDS: f64 = 8.0;

const PROBABILITY_BITS: u32 = 12;
const TOTAL: u32 = 1 << PROBABILITY_BITS;
/// States are never below this between steps.
const LEAST_STATE: u32 = 1 << 15;
const LANES: usize = 4;

/// The class of an offset, below 256, and how many bits tell it from the others of its class.
///
/// Offsets below 16 are classes of their own; above, a class is the place of the highest bit and the two bits that
/// follow it.
#[inline(always)]
pub(super) fn class_of(offset: u64) -> (u8, u32) {
    // No branch: which way it goes changes from value to value.
    let is_large = u32::from(offset >= 16);
    let exponent = 63 - (offset | 16).leading_zeros();
    let rest = (exponent - 2) * is_large;
    let first = (exponent * 4) * is_large;
    let upper = (offset >> rest) as u32 & (15 >> (2 * is_large));
    ((first + upper) as u8, rest)
}

/// The least offset of a class, and how many bits follow.
fn class(symbol: u8) -> (u64, u32) {
    if symbol < 16 {
        return (symbol.into(), 0);
    }
    let exponent = 4 + u32::from(symbol - 16) / 4;
    let rest = exponent - 2;
    ((4 | (u64::from(symbol - 16) % 4)) << rest, rest)
}

/// About how many bits the table of probabilities takes.
pub(super) fn table_bits(counts: &[u32]) -> f64 {
    let last = counts.iter().rposition(|&count| count > 0).unwrap_or(0);
    (last as f64 + 1.0) * 7.0 + 240.0
}

pub(super) fn encode_symbols<W: Word>(
    offsets: &[W],
    base: u64,
    width: u32,
    effort: Effort,
    out: &mut Output<'_>,
) -> bool {
    if offsets.iter().any(|offset| offset.get() > 255) {
        return false;
    }
    let symbols: Vec<u8> = offsets.iter().map(|offset| offset.get() as u8).collect();
    let start = out.bytes.len();
    out.byte(Codec::Symbols as u8);
    out.zigzag(base);
    write(&symbols, effort, out);
    pays(start, offsets.len(), width, out)
}

pub(super) fn encode_classes<W: Word>(
    offsets: &[W],
    base: u64,
    width: u32,
    effort: Effort,
    out: &mut Output<'_>,
) -> bool {
    let start = out.bytes.len();
    out.byte(Codec::Classes as u8);
    out.zigzag(base);
    let mut symbols = vec![0; offsets.len()];
    let mut rests = vec![0; offsets.len()];
    let bits = vectorised(|| classes(offsets, width, &mut symbols, &mut rests));
    write(&symbols, effort, out);
    vectorised(|| write_rests(offsets, width, &rests, bits, out.bytes));
    pays(start, offsets.len(), width, out)
}

/// The class of each offset and how many bits follow, and how many follow in all.
#[inline(always)]
fn classes<W: Word>(offsets: &[W], width: u32, symbols: &mut [u8], rests: &mut [u8]) -> usize {
    let places = symbols.iter_mut().zip(rests);
    let mut bits = 0;
    if width > f32::MANTISSA_DIGITS {
        for ((symbol, place), offset) in places.zip(offsets) {
            let rest;
            (*symbol, rest) = class_of(offset.get());
            *place = rest as u8;
            bits += rest;
        }
        return bits as usize;
    }
    // A float holds such an offset exactly, and has the place of the highest bit and those that follow it where they can
    // be taken from without a search: in many lanes at once.
    for ((symbol, place), offset) in places.zip(offsets) {
        let offset = offset.get() as u32;
        let float = (offset as i32 as f32).to_bits();
        let class = (float >> (f32::MANTISSA_DIGITS - 3)).wrapping_sub(CLASS_OF_ONE);
        let is_large = offset >= 16;
        let rest = if is_large { class / 4 - 2 } else { 0 };
        *symbol = if is_large { class } else { offset } as u8;
        *place = rest as u8;
        bits += rest;
    }
    bits as usize
}

/// The exponent of a float of 1 and the two bits behind it: how much more those of others are is four times the place
/// of the highest bit, and the two bits that follow it.
const CLASS_OF_ONE: u32 = 1_f32.to_bits() >> (f32::MANTISSA_DIGITS - 3);

/// The lowest bits of each offset, as many as are said, `bits` in all. No offset is wider than `width`.
#[inline(always)]
fn write_rests<W: Word>(offsets: &[W], width: u32, rests: &[u8], bits: usize, bytes: &mut Vec<u8>) {
    let end = bytes.len() + bits.div_ceil(8);
    let mut at = bytes.len();
    bytes.resize(end + 8, 0);
    let mut held = 0_u64;
    let mut count = 0;
    // There are fewer than eight bits from before, and at most 57 new ones.
    let mut put = |value: u64, bits: u32| {
        held |= value << count;
        count += bits;
        bytes[at..at + 8].copy_from_slice(&held.to_le_bytes());
        at += count as usize / 8;
        held >>= count / 8 * 8;
        count %= 8;
    };
    let rest_of = |offset: W, rest: u8| {
        let bits = u32::from(rest);
        (offset.get() & !(u64::MAX << bits), bits)
    };
    if width <= 31 {
        // One step waits for the one before it, so that there should be few.
        let (pairs, last) = offsets.as_chunks::<2>();
        let (their, its) = rests.as_chunks::<2>();
        for (pair, rests) in pairs.iter().zip(their) {
            let (one, bits) = rest_of(pair[0], rests[0]);
            let (other, more) = rest_of(pair[1], rests[1]);
            put(one | other << bits, bits + more);
        }
        for (&offset, &rest) in last.iter().zip(its) {
            let (rest, bits) = rest_of(offset, rest);
            put(rest, bits);
        }
    } else {
        for (&offset, &rest) in offsets.iter().zip(rests) {
            let (rest, bits) = rest_of(offset, rest);
            let low = bits.min(32);
            put(rest & mask(low), low);
            if W::BITS == 64 {
                put(rest >> low, bits - low);
            }
        }
    }
    bytes.truncate(end);
}

/// Probabilities that sum up to [`TOTAL`], at least 1 for each symbol that occurs.
fn probabilities(symbols: &[u8]) -> Vec<u16> {
    // Four tables, so that equal neighbours do not wait for one another.
    let mut tables = [[0_u32; 256]; 4];
    let mut quarters = symbols.chunks_exact(4);
    for four in &mut quarters {
        for (table, &symbol) in tables.iter_mut().zip(four) {
            table[symbol as usize] += 1;
        }
    }
    for &symbol in quarters.remainder() {
        tables[0][symbol as usize] += 1;
    }
    let counts: Vec<u64> = (0..256)
        .map(|symbol| tables.iter().map(|table| u64::from(table[symbol])).sum())
        .collect();
    let last = counts.iter().rposition(|&count| count > 0).unwrap_or(0);
    let all = symbols.len() as u64;
    let mut shares: Vec<u16> = counts[..=last]
        .iter()
        .map(|&count| match count {
            0 => 0,
            _ => ((count * u64::from(TOTAL) + all / 2) / all).clamp(1, u64::from(TOTAL) - 1) as u16,
        })
        .collect();
    // What rounding added or took is settled with the most frequent, whom it costs least.
    let mut sum: i64 = shares.iter().map(|&share| i64::from(share)).sum();
    while sum != i64::from(TOTAL) {
        let most = (0..shares.len())
            .max_by_key(|&symbol| shares[symbol])
            .expect("there is a symbol");
        let missing = i64::from(TOTAL) - sum;
        // Where too much was added, no symbol gives more than half of what it has.
        let most_taken = (i64::from(shares[most]) / 2 - 1).max(1);
        let change = missing.max(-most_taken);
        shares[most] = (i64::from(shares[most]) + change) as u16;
        sum += change;
    }
    shares
}

/// How a symbol changes the state.
#[derive(Clone, Copy, Default)]
struct Step {
    /// From this state on a word is written first.
    limit: u32,
    reciprocal: u32,
    shift: u32,
    start: u32,
    /// `TOTAL` minus the symbol's probability.
    complement: u32,
}

impl Step {
    fn new(start: u32, share: u32) -> Step {
        let limit = ((LEAST_STATE >> PROBABILITY_BITS) << 16) * share;
        if share == 1 {
            // The quotient is the state itself: (x * (2^32 - 1)) >> 32 is x - 1, and the start makes up for it.
            return Step {
                limit,
                reciprocal: u32::MAX,
                shift: 0,
                start: start + TOTAL - 1,
                complement: TOTAL - 1,
            };
        }
        let shift = u32::BITS - (share - 1).leading_zeros();
        let reciprocal = ((1_u64 << (shift + 31)).div_ceil(share.into())) as u32;
        Step {
            limit,
            reciprocal,
            shift: shift - 1,
            start,
            complement: TOTAL - share,
        }
    }

    #[inline(always)]
    fn apply(&self, state: u32) -> u32 {
        let quotient = ((u64::from(state) * u64::from(self.reciprocal)) >> 32) as u32 >> self.shift;
        state + self.start + quotient * self.complement
    }
}

/// Writes the table, the states, how many words there are, and the words.
fn write(symbols: &[u8], effort: Effort, out: &mut Output<'_>) {
    let shares = probabilities(symbols);
    out.byte((shares.len() - 1) as u8);
    encode(&shares, effort.inner(), out);
    let mut steps = [Step::default(); 256];
    let mut start = 0;
    for (symbol, &share) in shares.iter().enumerate() {
        if share > 0 {
            steps[symbol] = Step::new(start, share.into());
        }
        start += u32::from(share);
    }
    let mut states = [LEAST_STATE; LANES];
    let mut words = vec![0_u16; symbols.len()];
    let first = vectorised(|| code(symbols, &steps, &mut states, &mut words));
    for state in states {
        out.bytes.extend_from_slice(&state.to_le_bytes());
    }
    out.varint((words.len() - first) as u64);
    out.bytes
        .extend(words[first..].iter().flat_map(|word| word.to_le_bytes()));
}

/// Fills the words from the end, and says where the first lies: the decoder reads forwards what the encoder writes
/// backwards. A symbol gives at most one word.
#[inline(always)]
fn code(
    symbols: &[u8],
    steps: &[Step; 256],
    states: &mut [u32; LANES],
    words: &mut [u16],
) -> usize {
    let mut first = words.len();
    let mut put = |state: &mut u32, symbol: u8| {
        let step = &steps[symbol as usize];
        // Whether a word is due cannot be foreseen: it is written in any case, and counts if it is.
        let is_due = *state >= step.limit;
        if let Some(place) = words.get_mut(first - 1) {
            *place = *state as u16;
        }
        first -= usize::from(is_due);
        *state = step.apply(*state >> (16 * u32::from(is_due)));
    };
    let (whole, rest) = symbols.as_chunks::<LANES>();
    for (state, &symbol) in states.iter_mut().zip(rest).rev() {
        put(state, symbol);
    }
    for four in whole.iter().rev() {
        for (state, &symbol) in states.iter_mut().zip(four).rev() {
            put(state, symbol);
        }
    }
    first
}

/// Reads as many symbols.
fn read(input: &mut Input<'_>, count: usize, depth: u8) -> Result<Vec<u8>> {
    let kinds = usize::from(input.byte("the last symbol")?) + 1;
    let shares: Vec<u16> = decode(input, kinds, depth + 1)?;
    // For each of the 4,096 places: the symbol, its probability, and how far the place is from its start.
    let mut places = vec![(0_u8, 0_u16, 0_u16); TOTAL as usize];
    let mut start = 0_usize;
    for (symbol, &share) in shares.iter().enumerate() {
        let end = start + usize::from(share);
        let Some(own) = places.get_mut(start..end) else {
            return Err(input.malformed("probabilities of more than 4096 in all"));
        };
        for (offset, place) in own.iter_mut().enumerate() {
            *place = (symbol as u8, share, offset as u16);
        }
        start = end;
    }
    if start != TOTAL as usize {
        return Err(input.malformed("probabilities of less than 4096 in all"));
    }
    let mut states = [0_u32; LANES];
    for state in &mut states {
        let bytes = input.take(4, "a state of the entropy coder")?;
        *state = u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
        if *state < LEAST_STATE || *state >= 1 << 31 {
            return Err(input.malformed("a state of the entropy coder that cannot be"));
        }
    }
    let words = input.count(count, "the number of words")?;
    let mut bytes = input
        .take(words * 2, "words of the entropy coder")?
        .chunks_exact(2);
    let mut missing = false;
    let mut take = |state: &mut u32| {
        let (symbol, share, offset) = places[(*state & (TOTAL - 1)) as usize];
        *state = u32::from(share) * (*state >> PROBABILITY_BITS) + u32::from(offset);
        if *state < LEAST_STATE {
            match bytes.next() {
                Some(word) => {
                    *state = *state << 16 | u32::from(u16::from_le_bytes([word[0], word[1]]))
                }
                None => missing = true,
            }
        }
        symbol
    };
    // Where all symbols are alike, they take no words.
    input.hold(count as u64)?;
    let mut symbols = vec![0_u8; count];
    let mut fours = symbols.chunks_exact_mut(LANES);
    for four in &mut fours {
        for (symbol, state) in four.iter_mut().zip(&mut states) {
            *symbol = take(state);
        }
    }
    for (symbol, state) in fours.into_remainder().iter_mut().zip(&mut states) {
        *symbol = take(state);
    }
    // Having given all its words and its symbols, each state is where the encoder began.
    if missing || bytes.next().is_some() || states != [LEAST_STATE; LANES] {
        return Err(input.malformed("words of the entropy coder that do not end where they began"));
    }
    Ok(symbols)
}

pub(super) fn decode_symbols<T: Integer>(
    input: &mut Input<'_>,
    count: usize,
    base: T,
    depth: u8,
) -> Result<Vec<T>> {
    let symbols = read(input, count, depth)?;
    Ok(symbols
        .into_iter()
        .map(|symbol| base.plus(T::narrow(symbol.into())))
        .collect())
}

pub(super) fn decode_classes<T: Integer>(
    input: &mut Input<'_>,
    count: usize,
    base: T,
    depth: u8,
) -> Result<Vec<T>> {
    let symbols = read(input, count, depth)?;
    let bits: u64 = symbols
        .iter()
        .map(|&symbol| u64::from(class(symbol).1))
        .sum();
    let bytes = input.take(bits.div_ceil(8) as usize, "the bits of offsets")?;
    let mut values = Vec::with_capacity(count);
    let mut at = 0_usize;
    for symbol in symbols {
        let (least, rest) = class(symbol);
        let mut window = [0_u8; 16];
        let from = at / 8;
        let near = &bytes[from.min(bytes.len())..bytes.len().min(from + 9)];
        window[..near.len()].copy_from_slice(near);
        let found = (u128::from_le_bytes(window) >> (at % 8)) as u64 & crate::kernels::mask(rest);
        at += rest as usize;
        values.push(base.plus(T::narrow(least + found)));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::kernels::width_of;
    use crate::packed::Mode;

    #[test]
    fn classes_cover_every_offset() {
        for offset in (0..5000)
            .chain((0..64).flat_map(|bit| [1 << bit, (1 << bit) - 1, u64::MAX - (1 << bit)]))
        {
            let (symbol, rest) = class_of(offset);
            let (least, bits) = class(symbol);
            assert_eq!(bits, rest);
            assert!(least <= offset && (offset - least) >> rest == 0, "{offset}");
        }
        assert_eq!(class_of(u64::MAX), (255, 61));
    }

    #[test]
    fn probabilities_add_up_whatever_rounding_does() {
        // Of so many symbols with this count each, all are rounded up, or all down, beside one with another count.
        for kinds in [1_usize, 2, 3, 100, 200, 255] {
            for count in 1..40 {
                for other in [1, 7, 100, 1000, 60_000] {
                    let mut symbols = vec![0; other];
                    for kind in 1..=kinds {
                        symbols.extend(std::iter::repeat_n(kind as u8, count));
                    }
                    let shares = probabilities(&symbols);
                    let about = format!("{kinds} symbols {count} times, one {other} times");
                    assert!(
                        shares.iter().all(|share| (1..4096).contains(share)),
                        "{about}"
                    );
                    let sum: u32 = shares.iter().map(|&share| u32::from(share)).sum();
                    assert_eq!(sum, TOTAL, "{about}");
                }
            }
        }
    }

    #[test]
    fn what_classes_leave_open_comes_back() {
        fn check<W: Integer>(offsets: Vec<W>) {
            let mut bytes = vec![7; 3];
            let widest = offsets.iter().map(|offset| width_of(offset.get())).max();
            let width = widest.unwrap_or(0);
            let (mut symbols, mut rests) = (vec![0; offsets.len()], vec![0; offsets.len()]);
            let all = classes(&offsets, width, &mut symbols, &mut rests);
            for (offset, found) in offsets.iter().zip(symbols.into_iter().zip(&rests)) {
                let (symbol, rest) = class_of(offset.get());
                assert_eq!(found, (symbol, &(rest as u8)));
            }
            write_rests(&offsets, width, &rests, all, &mut bytes);
            assert_eq!(bytes[..3], [7; 3]);
            let mut expected = vec![7; 3];
            let (mut held, mut count) = (0_u128, 0);
            for offset in offsets {
                let (symbol, rest) = class_of(offset.get());
                held |= u128::from(offset.get() - class(symbol).0) << count;
                count += rest;
                while count >= 8 {
                    expected.push(held as u8);
                    held >>= 8;
                    count -= 8;
                }
            }
            expected.extend((count > 0).then_some(held as u8));
            assert_eq!(bytes, expected);
        }
        check::<u16>(vec![]);
        check::<u16>((0..5000_u32).map(|n| (n * 7919) as u16).collect());
        check::<u32>((0..5000_u32).map(|n| n.wrapping_mul(0x9e37_79b9)).collect());
        check::<u32>(
            (0..4999_u32)
                .map(|n| n.wrapping_mul(0x9e37_79b9) >> 1)
                .collect(),
        );
        check::<u32>(
            (0..4999_u32)
                .map(|n| n.wrapping_mul(0x9e37_79b9) >> 15)
                .collect(),
        );
        let wide = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (n % 64);
        check::<u64>((0..5000).map(wide).collect());
        check::<u64>(vec![u64::MAX; 9]);
    }

    #[test]
    fn symbols_come_back_and_take_what_they_must() {
        for kinds in [2_u64, 3, 5, 16, 100, 256] {
            for count in [1_usize, 2, 3, 4, 5, 100, 1001, 20_000] {
                for skew in [1, 3] {
                    let symbols: Vec<u8> = (0..count as u64)
                        .map(|index| {
                            let mixed = index
                                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                                .rotate_left(29)
                                .wrapping_mul(0xbf58_476d_1ce4_e5b9)
                                >> 40;
                            let share = mixed as f64 / (1_u64 << 24) as f64;
                            (share.powi(skew) * kinds as f64) as u8
                        })
                        .collect();
                    let mut bytes = Vec::new();
                    let effort = Effort::new(Mode::Small);
                    write(
                        &symbols,
                        effort,
                        &mut Output {
                            bytes: &mut bytes,
                            origin: 0,
                            slack: 0,
                        },
                    );
                    let mut input = Input::new(&bytes, 0, &Limits::default());
                    assert_eq!(
                        read(&mut input, count, 0).unwrap(),
                        symbols,
                        "{count} of {kinds}"
                    );
                    assert_eq!(input.left(), 0);
                    if count == 20_000 {
                        let mut counts = [0_u32; 256];
                        symbols
                            .iter()
                            .for_each(|&symbol| counts[symbol as usize] += 1);
                        let least = super::super::sample::entropy(&counts) * count as f64 / 8.0;
                        assert!(
                            (bytes.len() as f64) < least * 1.01 + 420.0,
                            "{} {least}",
                            bytes.len()
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn quotients_are_exact_for_every_probability() {
        for share in 1..TOTAL {
            let step = Step::new(7, share);
            let top = step.limit - 1;
            for state in [
                LEAST_STATE,
                LEAST_STATE + 1,
                share * 8,
                share * 8 + 1,
                top,
                top - 1,
                top / 2,
            ]
            .into_iter()
            .filter(|&state| state <= top && state >= share.min(LEAST_STATE))
            {
                assert_eq!(
                    step.apply(state),
                    (state / share) * TOTAL + state % share + 7,
                    "{state} {share}"
                );
            }
        }
    }
}
