//! Control flow of a LIR function; the algorithms are those of [`crate::graph`].

use super::func::{Block, Func};
use crate::graph::{self, FlowGraph};

pub type Cfg = graph::Cfg<Block>;
pub type Dominators = graph::Dominators<Block>;
pub type Loop = graph::Loop<Block>;
pub type Loops = graph::Loops<Block>;
pub type Analyses = graph::Analyses<Block>;

impl FlowGraph for Func {
    type Block = Block;
    fn block_count(&self) -> usize {
        self.blocks.len()
    }
    fn entry_block(&self) -> Option<Block> {
        if self.layout.is_empty() { None } else { Some(self.entry()) }
    }
    fn each_successor(&self, b: Block, f: &mut dyn FnMut(Block)) {
        if let Some(t) = self.terminator(b) {
            self.insts[t.index()].data.for_each_successor(f);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::{Signature, Ty, builder::Builder, parse_module};

    /// entry → outer ⇄ (inner ⇄ body) → latch; outer → exit. One block is unreachable.
    fn nest() -> (Func, [Block; 6]) {
        let mut func = Func::new("nest", Signature { params: vec![Ty::I8], results: vec![] });
        let mut b = Builder::start(&mut func);
        let c = b.params(b.block)[0];
        let [outer, inner, body, latch, exit, dead] = std::array::from_fn(|_| b.new_block(&[]));
        b.jump(outer, &[]);
        b.switch_to(outer);
        b.brif(c, inner, &[], exit, &[]);
        b.switch_to(inner);
        b.brif(c, body, &[], latch, &[]);
        b.switch_to(body);
        b.jump(inner, &[]);
        b.switch_to(latch);
        b.jump(outer, &[]);
        b.switch_to(exit);
        b.ret(vec![]);
        b.switch_to(dead);
        b.jump(exit, &[]);
        (func, [outer, inner, body, latch, exit, dead])
    }

    #[test]
    fn dominators_and_loops_of_a_nest() {
        let (func, [outer, inner, body, latch, exit, dead]) = nest();
        let cfg = Cfg::new(&func);
        let doms = Dominators::new(&func, &cfg);
        assert!(!cfg.is_reachable(dead));
        assert_eq!(cfg.preds(exit), &[outer], "edges from unreachable blocks do not count");
        assert_eq!(doms.idom(latch), Some(inner));
        assert_eq!(doms.idom(exit), Some(outer));
        assert!(
            doms.dominates(outer, body)
                && doms.dominates(body, body)
                && !doms.dominates(body, latch)
                && !doms.dominates(dead, exit)
        );
        let loops = Loops::new(&func, &cfg, &doms);
        assert_eq!(loops.all.len(), 2);
        assert_eq!((loops.all[0].header, loops.all[0].depth, loops.all[0].innermost), (outer, 1, false));
        assert_eq!(
            (loops.all[1].header, loops.all[1].parent, loops.all[1].innermost),
            (inner, Some(0), true)
        );
        assert_eq!(loops.depth(body), 2);
        assert_eq!(loops.depth(latch), 1);
        assert_eq!(loops.depth(exit), 0);
        assert!(loops.contains(0, body) && !loops.contains(1, latch));
    }

    #[test]
    fn order_puts_dominators_first() {
        let (func, _) = nest();
        let cfg = Cfg::new(&func);
        let doms = Dominators::new(&func, &cfg);
        for order in [cfg.rpo(), doms.preorder()] {
            assert_eq!(order.len(), 6);
            for (i, b) in order.iter().enumerate() {
                if let Some(d) = doms.idom(*b) {
                    assert!(order[..i].contains(&d));
                }
            }
        }
    }

    fn func(text: &str) -> Func {
        parse_module(text, &[]).expect("parses").funcs.remove(0)
    }

    /// Dominance by definition: `a` dominates `b` if `b` cannot be reached once `a` is removed.
    fn by_definition(f: &Func, a: Block, b: Block) -> bool {
        let mut seen = vec![];
        let mut todo = vec![f.entry()];
        while let Some(x) = todo.pop() {
            if x == a || seen.contains(&x) {
                continue;
            }
            seen.push(x);
            todo.extend(f.insts[f.terminator(x).expect("verified").index()].data.successors());
        }
        !seen.contains(&b)
    }

    #[test]
    fn agrees_with_the_definition_of_dominance() {
        let f = func("func @f(i8) {\nblock0(v0: i8):\n brif v0, block1, block2\nblock1:\n brif v0, block3, block4\nblock2:\n jump block4\nblock3:\n brif v0, block1, block5
block4:\n brif v0, block6, block2\nblock5:\n return\nblock6:\n brif v0, block6, block5\nblock7:\n jump block5\n}");
        let cfg = Cfg::new(&f);
        let dom = Dominators::new(&f, &cfg);
        assert_eq!(cfg.rpo()[0], Block(0));
        assert!(!cfg.is_reachable(Block(7)));
        for a in cfg.rpo() {
            for b in cfg.rpo() {
                assert_eq!(dom.dominates(*a, *b), by_definition(&f, *a, *b), "{a} {b}");
            }
        }
        assert_eq!(dom.idom(Block(4)), Some(Block(0)));
        assert_eq!(dom.idom(Block(6)), Some(Block(4)));
    }

    #[test]
    fn a_chain_of_ten_thousand_blocks_needs_no_recursion() {
        let mut text = "func @f() {\n".to_string();
        for i in 0..10_000 {
            text.push_str(&format!("block{i}:\n jump block{}\n", i + 1));
        }
        text.push_str("block10000:\n return\n}");
        let f = func(&text);
        let cfg = Cfg::new(&f);
        let dom = Dominators::new(&f, &cfg);
        assert_eq!(cfg.rpo().len(), 10_001);
        assert!(dom.dominates(Block(5), Block(9_999)) && !dom.dominates(Block(9_999), Block(5)));
    }
}
