//! The tree of columns that a Parquet file declares, looked at before the library builds it.
//!
//! The library goes down the tree by calls in calls, and takes memory for as many columns as a group says it has. A file may
//! say anything, and a stack that overflows ends the process. What is let through is written as Parquet's definition has
//! it, so that the library reads the same of it.

use super::thrift::{BINARY, I8, I32, Input, LIST, STRUCT, Unread};

/// Groups in groups.
const DEPTH: usize = 64;

/// Checks the tree in the description of a file.
pub(super) fn check(description: &[u8]) -> Result<(), Unread> {
    let mut input = Input::new(description);
    let mut last = 0;
    while let Some((id, kind)) = input.field(&mut last)? {
        match (id, kind) {
            // The first one counts, and what is behind does not matter.
            (2, LIST) => return check_elements(&mut input),
            (1, I32) | (3, 6) | (6, BINARY) => input.skip(kind)?,
            (8.., _) => skip_scalar(&mut input, kind)?,
            _ => return Err(Unread::Wrong("something else where its columns should be")),
        }
    }
    Err(Unread::Wrong("no columns"))
}

fn check_elements(input: &mut Input<'_>) -> Result<(), Unread> {
    let (kind, count) = input.list()?;
    if kind != STRUCT {
        return Err(Unread::Wrong("columns of another type"));
    }
    // How many columns of each group that is open are to come.
    let mut open: Vec<u64> = Vec::new();
    let mut below = 0;
    for index in 0..count {
        while open.last() == Some(&0) {
            open.pop();
        }
        match open.last_mut() {
            Some(left) => *left -= 1,
            None if index == 0 => {}
            None => return Err(Unread::Wrong("columns that belong to no group")),
        }
        let children = u64::from(children(input)?);
        below += children;
        if below >= count && children > 0 {
            return Err(Unread::Wrong("groups of more columns than there are"));
        }
        if children > 0 {
            open.push(children);
        }
        if open.len() > DEPTH {
            return Err(Unread::Wrong("columns in more than 64 groups"));
        }
    }
    Ok(())
}

/// Reads an element of the tree: how many columns it has, if it is a group.
fn children(input: &mut Input<'_>) -> Result<u32, Unread> {
    let (mut last, mut children) = (0, 0);
    while let Some((id, kind)) = input.field(&mut last)? {
        match (id, kind) {
            (5, I32) => children = input.size()?,
            (1..=3 | 6..=9, I32) | (4, BINARY) => input.skip(kind)?,
            (10, STRUCT) => check_logical_type(input)?,
            (1..=10, _) => return Err(Unread::Wrong("a column whose parts have other types")),
            _ => skip_scalar(input, kind)?,
        }
    }
    Ok(children)
}

/// Reads over the logical type of a column, a union.
fn check_logical_type(input: &mut Input<'_>) -> Result<(), Unread> {
    const WRONG: Unread = Unread::Wrong("a logical type of other parts");
    let mut last = 0;
    while let Some((variant, kind)) = input.field(&mut last)? {
        if kind != STRUCT {
            return Err(WRONG);
        }
        let mut last = 0;
        while let Some((id, kind)) = input.field(&mut last)? {
            match (variant, id, kind) {
                // The unit of times, a union of structures without fields.
                (7 | 8, 2, STRUCT) => {
                    let mut last = 0;
                    while let Some((_, kind)) = input.field(&mut last)? {
                        if kind != STRUCT || input.byte()? != 0 {
                            return Err(WRONG);
                        }
                    }
                }
                // A truth value is in the type.
                (7 | 8, 1, 1 | 2) | (10, 2, 1 | 2) => {}
                (5, 1 | 2, I32) | (18, 2, I32) | (10 | 16, 1, I8) | (17 | 18, 1, BINARY) => {
                    input.skip(kind)?
                }
                (5 | 7 | 8 | 10 | 16..=18, 1 | 2, _) => return Err(WRONG),
                _ => skip_scalar(input, kind)?,
            }
        }
    }
    Ok(())
}

/// Reads over a field that the definition does not have, if there is but one way to.
fn skip_scalar(input: &mut Input<'_>, kind: u8) -> Result<(), Unread> {
    match kind {
        ..=BINARY => input.skip(kind),
        _ => Err(Unread::Wrong("a part that is not known")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A description that begins with columns, each of which says how many lie in it.
    fn description(children: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0x15, 0x04, 0x19, 0xfc];
        varint(children.len() as u64, &mut bytes);
        for &children in children {
            bytes.extend([0x35, 0x00, 0x18, 0x01, b'n']);
            if children > 0 {
                bytes.push(0x15);
                varint(children * 2, &mut bytes);
            }
            bytes.push(0);
        }
        bytes.push(0);
        bytes
    }

    fn varint(mut value: u64, bytes: &mut Vec<u8>) {
        while value >= 0x80 {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
    }

    #[test]
    fn trees_are_let_through_that_hang_together() {
        for tree in [&[2, 0, 0][..], &[2, 1, 0, 2, 0, 0], &[0], &[]] {
            assert_eq!(check(&description(tree)), Ok(()), "{tree:?}");
        }
        let deepest: Vec<u64> = [1; DEPTH].into_iter().chain([0]).collect();
        assert_eq!(check(&description(&deepest)), Ok(()));
    }

    #[test]
    fn trees_that_would_end_the_process_are_refused() {
        let deep: Vec<u64> = [1; DEPTH + 1].into_iter().chain([0]).collect();
        for tree in [
            &deep[..],
            &[i32::MAX as u64, 0],
            &[3, 0, 0],
            &[2, 2, 0],
            &[1, 0, 0],
        ] {
            let error = check(&description(tree)).unwrap_err();
            assert!(matches!(error, Unread::Wrong(_)), "{tree:?}: {error:?}");
        }
        let whole = description(&[2, 0, 0]);
        for length in 0..whole.len() - 1 {
            assert_eq!(
                check(&whole[..length]),
                Err(Unread::Longer),
                "{length} bytes"
            );
        }
    }
}
