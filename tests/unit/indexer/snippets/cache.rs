//! A cache that forgets the oldest entry first.

use std::collections::HashMap;
use std::fmt::{self, Display};

use crate::clock::Clock;

pub const CAPACITY: usize = 128;
static HITS: AtomicUsize = AtomicUsize::new(0);

/// Why a value could not be kept.
#[derive(Debug, Clone, PartialEq)]
pub enum CacheError {
    Full,
    TooLarge { size: usize, limit: usize },
}

/// Something that can say how much room it takes.
pub trait Weigh {
    fn weight(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.weight() == 0
    }
}

/// Keeps values until they are pushed out.
#[derive(Debug)]
pub struct Cache<K, V: Weigh> {
    entries: HashMap<K, V>,
    order: Vec<K>,
}

macro_rules! hit {
    ($counter:expr) => {
        $counter.fetch_add(1, Ordering::Relaxed)
    };
}

impl<K: Eq + Hash + Clone, V: Weigh> Cache<K, V> {
    /// An empty cache.
    pub fn new() -> Self {
        Self { entries: HashMap::with_capacity(CAPACITY), order: Vec::new() }
    }

    /// Take a value in, and push the oldest one out when there is no room left for it. The caller gets
    /// an error when the value alone is larger than the whole cache, because then nothing would help.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Result<(), CacheError> {
        let size = value.weight();
        if size > CAPACITY {
            return Err(CacheError::TooLarge { size, limit: CAPACITY });
        }
        while self.entries.len() >= CAPACITY {
            let oldest = self.order.remove(0);
            self.entries.remove(&oldest);
        }
        self.order.push(key.clone());
        self.entries.insert(key, value);
        Ok(())
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        let found = self.entries.get(key);
        if found.is_some() {
            hit!(HITS);
        }
        found
    }

    pub async fn refresh(&mut self, clock: &dyn Clock) -> usize {
        let before = self.entries.len();
        for key in clock.expired::<K>().await {
            self.entries.remove(&key);
            self.order.retain(|kept| kept != &key);
        }
        before - self.entries.len()
    }
}

impl<K, V: Weigh> Display for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} entries", self.entries.len())
    }
}

pub type Shared<K, V> = Arc<Mutex<Cache<K, V>>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_it_was_given() {
        let mut cache = Cache::new();
        cache.insert("a", Page(1)).unwrap();
        assert_eq!(cache.get(&"a"), Some(&Page(1)));
    }
}
