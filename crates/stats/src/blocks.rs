//! Values by the number of the block in which they were measured.

/// The number of a block and the value in it, in the order of the blocks.
pub type ByBlock = Vec<(u32, f64)>;

/// `values` − `base` in every block that both have.
pub fn block_differences(values: &[(u32, f64)], base: &[(u32, f64)]) -> ByBlock {
    values
        .iter()
        .filter_map(|(block, value)| Some((*block, value - in_block(base, *block)?)))
        .collect()
}

/// The value in a block, if there is one.
pub fn in_block(values: &[(u32, f64)], block: u32) -> Option<f64> {
    values.binary_search_by_key(&block, |(number, _)| *number).ok().map(|place| values[place].1)
}

/// The values without the numbers of their blocks.
pub fn without_blocks(values: &[(u32, f64)]) -> Vec<f64> {
    values.iter().map(|(_, value)| *value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_one_side_lacks_are_left_out() {
        let (values, base) = ([(1, 5.0), (2, 7.0), (4, 9.0)], [(2, 1.0), (3, 2.0), (4, 3.0)]);
        assert_eq!(block_differences(&values, &base), [(2, 6.0), (4, 6.0)]);
        assert_eq!(without_blocks(&values), [5.0, 7.0, 9.0]);
    }
}
