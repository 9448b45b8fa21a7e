//! What somebody may have meant who wrote a name that does not exist.

/// The name that was perhaps meant.
pub(super) fn suggestion(name: &str, names: &[&str]) -> String {
    let nearest = names.iter().map(|known| (distance(name, known), known));
    match nearest.min() {
        Some((far, nearest)) if far <= 3 => format!("; did you mean '{nearest}'?"),
        _ => format!("; there are {}", names.join(", ")),
    }
}

/// How many letters must be added, taken away or changed.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_is_near_and_lists_all_otherwise() {
        let names = ["listen", "log", "database"];
        assert_eq!(suggestion("listne", &names), "; did you mean 'listen'?");
        assert_eq!(suggestion("databse", &names), "; did you mean 'database'?");
        assert_eq!(
            suggestion("something", &names),
            "; there are listen, log, database"
        );
    }
}
