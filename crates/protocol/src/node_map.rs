//! What is kept of other nodes, by their numbers.

use crate::NodeId;

/// A value for each of some nodes. Their numbers are dense, so that one is found without a search;
/// those of which nothing is kept take a word.
#[derive(Debug)]
pub(crate) struct NodeMap<T>(Vec<Option<Box<T>>>);

impl<T> Default for NodeMap<T> {
    fn default() -> NodeMap<T> {
        NodeMap(Vec::new())
    }
}

impl<T> NodeMap<T> {
    /// The value of a node, if there is one.
    #[inline]
    pub fn get(&self, node: NodeId) -> Option<&T> {
        self.0.get(node.0 as usize)?.as_deref()
    }

    /// The value of a node, which is made if there is none.
    #[inline]
    pub fn get_or_insert_with(&mut self, node: NodeId, new: impl FnOnce() -> T) -> &mut T {
        let place = node.0 as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, || None);
        }
        self.0[place].get_or_insert_with(|| Box::new(new()))
    }

    /// Forgets a node.
    pub fn remove(&mut self, node: NodeId) {
        if let Some(value) = self.0.get_mut(node.0 as usize) {
            *value = None;
        }
    }

    /// All values, in the order of their nodes.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &T)> {
        let all = (0..).map(NodeId).zip(&self.0);
        all.filter_map(|(node, value)| Some((node, value.as_deref()?)))
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (NodeId, &mut T)> {
        let all = (0..).map(NodeId).zip(&mut self.0);
        all.filter_map(|(node, value)| Some((node, value.as_deref_mut()?)))
    }
}
