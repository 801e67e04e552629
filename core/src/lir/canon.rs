//! The canonical bytes of a module: what the code cache hashes. Two modules with the same bytes become the
//! same object.
//!
//! Everything that a back end turns into code is in them; what it does not see is left out: numbers of values
//! and blocks (they count anew in the order of the layout), dead instructions, source locations, names and
//! addresses of symbols. Symbols count in the order of their first use, and [`number_symbols`] gives them
//! these numbers as names, so that an object made of one module fits the symbols of the other:
//!
//! ```python
//! table = np.arange(8.0)
//! def f(i): return table[i]       # the array lies elsewhere in each process, the code is the same
//! ```
//!
//! The encoding must be injective: every list has its length in front, every enumeration its number.

use super::*;
use std::collections::HashMap;

/// Names of the symbols of a module in the order of their first use; those that nobody uses come last.
pub(crate) struct Symbols {
    order: HashMap<String, u32>,
}

impl Symbols {
    fn of(module: &Module) -> Symbols {
        let mut order: HashMap<String, u32> = HashMap::new();
        let mut note = |name: &str| {
            let next = order.len() as u32;
            if !order.contains_key(name) {
                order.insert(name.to_owned(), next);
            }
        };
        for func in &module.funcs {
            for i in func.layout.iter().flat_map(|b| &func.blocks[b.index()].insts) {
                if let InstData::SymbolAddr { symbol } = &func.insts[i.index()].data {
                    note(&func.symbols[symbol.index()].name);
                }
            }
        }
        for func in &module.funcs {
            func.symbols.iter().for_each(|s| note(&s.name));
        }
        Symbols { order }
    }
}

/// Names every symbol by its number, but for the words of functions, which are found by name. Symbols of one
/// name are one symbol.
pub fn number_symbols(module: &mut Module) {
    let symbols = Symbols::of(module);
    for s in module.funcs.iter_mut().flat_map(|f| &mut f.symbols).filter(|s| !cells::is_word(&s.name)) {
        s.name = symbols.order.get(&s.name).copied().unwrap_or(0).to_string();
    }
}

/// The bytes of a module whose symbols are named by number.
pub fn bytes(module: &Module) -> Vec<u8> {
    let mut out =
        Out { bytes: Vec::with_capacity(16 * module.funcs.iter().map(|f| f.insts.len()).sum::<usize>()) };
    out.list(&module.funcs, |out, f| out.func(f));
    out.bytes
}

struct Out {
    bytes: Vec<u8>,
}

impl Out {
    fn byte(&mut self, x: u8) {
        self.bytes.push(x);
    }
    /// LEB128: small numbers are one byte.
    fn number(&mut self, mut x: u64) {
        while x >= 0x80 {
            self.bytes.push(x as u8 | 0x80);
            x >>= 7;
        }
        self.bytes.push(x as u8);
    }
    fn text(&mut self, s: &str) {
        self.number(s.len() as u64);
        self.bytes.extend_from_slice(s.as_bytes());
    }
    fn list<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Out, &T)) {
        self.number(items.len() as u64);
        for x in items {
            one(self, x);
        }
    }
    fn ty(&mut self, ty: Ty) {
        self.byte(ty.code());
    }
    fn signature(&mut self, sig: &Signature) {
        self.list(&sig.params, |o, t| o.ty(*t));
        self.list(&sig.results, |o, t| o.ty(*t));
    }

    fn func(&mut self, func: &Func) {
        self.text(&func.name);
        self.signature(&func.sig);
        self.byte(u8::from(func.always_inline) + 2 * u8::from(func.wraps.is_some()));
        self.list(&func.slots, |o, s| o.number(2 * u64::from(s.bytes) + u64::from(s.shared)));
        let numbers = Numbers::of(func);
        self.list(&func.layout, |o, b| {
            let block = &func.blocks[b.index()];
            o.byte(u8::from(block.cold) + 2 * u8::from(block.short));
            o.list(&block.params, |o, p| o.ty(func.value_type(*p)));
            o.list(&block.insts, |o, i| o.inst(func, &numbers, &func.insts[i.index()]));
        });
    }

    fn inst(&mut self, func: &Func, n: &Numbers, node: &InstNode) {
        let values = |o: &mut Out, vs: &[Value]| o.list(vs, |o, v| o.number(n.value(*v)));
        let target = |o: &mut Out, to: &BlockCall| {
            o.number(n.block(to.block));
            values(o, &to.args);
        };
        match &node.data {
            InstData::Const { ty, bits } => {
                self.byte(0);
                self.ty(*ty);
                self.number(*bits);
            }
            InstData::Op { op, ty, args } => {
                self.byte(1);
                self.number(*op as u64);
                self.ty(*ty);
                values(self, args);
            }
            InstData::Load { ty, addr, offset, alias } => {
                self.byte(2);
                self.ty(*ty);
                self.number(n.value(*addr));
                self.number(*offset as u32 as u64);
                self.byte(*alias as u8);
            }
            InstData::Store { value, addr, offset, alias } => {
                self.byte(3);
                self.number(n.value(*value));
                self.number(n.value(*addr));
                self.number(*offset as u32 as u64);
                self.byte(*alias as u8);
            }
            InstData::StackAddr { slot } => {
                self.byte(4);
                self.number(slot.index() as u64);
            }
            InstData::SymbolAddr { symbol } => {
                self.byte(5);
                self.text(&func.symbols[symbol.index()].name);
            }
            InstData::Call { func: callee, args } => {
                self.byte(6);
                let callee = &func.funcs[callee.index()];
                self.text(&callee.name);
                self.signature(&callee.sig);
                values(self, args);
            }
            InstData::CallIndirect { sig, addr, args } => {
                self.byte(7);
                self.signature(sig);
                self.number(n.value(*addr));
                values(self, args);
            }
            InstData::CallHelper { helper, args } => {
                self.byte(8);
                self.text(helper.name);
                values(self, args);
            }
            InstData::Grid { op, ty, args } => {
                self.byte(14);
                self.number(*op as u64);
                self.ty(*ty);
                values(self, args);
            }
            InstData::Jump(to) => {
                self.byte(9);
                target(self, to);
            }
            InstData::Brif { cond, then_to, else_to, cold } => {
                self.byte(10);
                self.number(n.value(*cond));
                target(self, then_to);
                target(self, else_to);
                self.byte(*cold as u8);
            }
            InstData::Switch { index, cases, default } => {
                self.byte(11);
                self.number(n.value(*index));
                self.list(cases, |o, b| o.number(n.block(*b)));
                self.number(n.block(*default));
            }
            InstData::Return(vs) => {
                self.byte(12);
                values(self, vs);
            }
            InstData::Unreachable => self.byte(13),
        }
        // Types of results follow from what is here; their number is told apart by what defines them.
        self.number(node.results.len() as u64);
    }
}

/// Numbers of values and blocks in the order of the layout.
struct Numbers {
    values: Vec<u32>,
    blocks: Vec<u32>,
}

/// Of what is not in the layout; verified LIR has no use of it.
const NOWHERE: u32 = u32::MAX;

impl Numbers {
    fn of(func: &Func) -> Numbers {
        let mut n = Numbers {
            values: vec![NOWHERE; func.value_types.len()],
            blocks: vec![NOWHERE; func.blocks.len()],
        };
        let mut next = 0;
        for (k, b) in func.layout.iter().enumerate() {
            n.blocks[b.index()] = k as u32;
            let block = &func.blocks[b.index()];
            for v in
                block.params.iter().chain(block.insts.iter().flat_map(|i| &func.insts[i.index()].results))
            {
                n.values[v.index()] = next;
                next += 1;
            }
        }
        n
    }
    fn value(&self, v: Value) -> u64 {
        u64::from(self.values[v.index()])
    }
    fn block(&self, b: Block) -> u64 {
        u64::from(self.blocks[b.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::text::parse_module;

    const TEXT: &str = r#"func @f(ptr, i64) -> i64, f64 {
    declare @g(ptr) -> i64
    slot0 = slot 16
    sym0 = symbol "text a" 0x1000
    sym1 = symbol "text b" 0x2000
block0(v0: ptr, v1: i64):
    v2 = symbol_addr sym1
    v3 = symbol_addr sym0
    v4 = const.i64 3
    v5 = iadd.i64 v1, v4
    v6 = load.f64 array v2+8
    store.f64 array v6, v3
    v7 = icmp_slt.i64 v5, v1
    brif v7, cold block1(v5), block2
block1(v8: i64) cold:
    v9 = call @g(v0)
    return v9, v6
block2:
    v10 = const.i64 0
    return v10, v6
}

func @g(ptr) -> i64 {
block0(v0: ptr):
    v1 = const.i64 0
    return v1
}
"#;

    fn key(text: &str) -> Vec<u8> {
        let mut module = parse_module(text, &[]).unwrap();
        number_symbols(&mut module);
        bytes(&module)
    }

    #[test]
    fn every_change_of_the_text_that_means_something_changes_the_bytes() {
        let same = key(TEXT);
        for (from, to) in [
            ("const.i64 3", "const.i64 4"),
            ("iadd.i64", "isub.i64"),
            ("slot 16", "slot 24"),
            ("v2+8", "v2+16"),
            ("load.f64 array", "load.f64 element"),
            ("store.f64 array v6, v3", "store.f64 array v6, v2"),
            ("block1(v5)", "block1(v4)"),
            ("brif v7, cold", "brif v7,"),
            ("block1(v8: i64) cold", "block1(v8: i64)"),
            ("icmp_slt", "icmp_sle"),
            ("v9 = call @g(v0)", "v9 = const.i64 1"),
            ("return v10, v6", "return v5, v6"),
            ("symbol_addr sym0", "symbol_addr sym1"),
        ] {
            assert!(TEXT.contains(from), "{from}");
            assert_ne!(key(&TEXT.replacen(from, to, 1)), same, "{from} → {to}");
        }
    }

    #[test]
    fn numbers_and_symbols_of_the_process_do_not() {
        let same = key(TEXT);
        for (from, to) in [
            ("v5", "v55"),
            ("block2", "block7"),
            ("0x1000", "0x1001"),
            ("text a", "text /tmp/a.py"),
            ("text b", "global array 0x77"),
        ] {
            assert!(TEXT.contains(from), "{from}");
            assert_eq!(key(&TEXT.replace(from, to)), same, "{from} → {to}");
        }
        let mut module = parse_module(TEXT, &[]).unwrap();
        number_symbols(&mut module);
        let names: Vec<(&str, usize)> =
            module.funcs[0].symbols.iter().map(|s| (s.name.as_str(), s.addr)).collect();
        assert_eq!(names, [("1", 0x1000), ("0", 0x2000)], "in the order of use, each with its own address");
    }
}
