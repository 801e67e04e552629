//! Patterns as the host describes them, whose numbers `tierup/_patterns.py` writes, in the terms of the engine.

use regex_automata::meta;
use regex_automata::util::syntax;
use regex_syntax::hir::{Capture, Class, ClassBytes, ClassBytesRange, Hir, Look, Repetition};
use std::sync::Arc;

/// What a pattern asks for that no automaton has, so that some texts are Python's.
#[derive(Clone, Copy, Default)]
pub(super) struct Asks {
    /// `$` also stands in front of a line feed that ends the text.
    pub ends_before_newline: bool,
    /// Words whose letters are not ASCII have borders that the engine does not see.
    pub words_beyond_ascii: bool,
    /// In a text of no length, versions of Python differ.
    pub not_a_border: bool,
}

/// A pattern, read.
pub(super) struct Program {
    pub hir: Hir,
    pub groups: usize,
    pub asks: Asks,
    /// Groups in the order in which they end.
    pub ends: Vec<usize>,
}

struct Reader<'a> {
    numbers: std::slice::Iter<'a, i64>,
    asks: Asks,
    ends: Vec<usize>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<i64> {
        self.numbers.next().copied()
    }

    fn several(&mut self) -> Option<Vec<Hir>> {
        (0..self.next()?).map(|_| self.part()).collect()
    }

    fn part(&mut self) -> Option<Hir> {
        Some(match self.next()? {
            0 => Hir::class(Class::Bytes(self.set()?)),
            1 => Hir::concat(self.several()?),
            2 => Hir::alternation(self.several()?),
            3 => {
                let (min, max) = (u32::try_from(self.next()?).ok()?, self.next()?);
                let max = if max < 0 { None } else { Some(u32::try_from(max).ok()?) };
                let (greedy, sub) = (self.next()? != 0, Box::new(self.part()?));
                Hir::repetition(Repetition { min, max, greedy, sub })
            }
            4 => {
                let (index, sub) = (u32::try_from(self.next()?).ok()?, Box::new(self.part()?));
                self.ends.push(index as usize);
                Hir::capture(Capture { index, name: None, sub })
            }
            5 => Hir::look(self.look()?),
            _ => return None,
        })
    }

    fn set(&mut self) -> Option<ClassBytes> {
        let mut set = ClassBytes::empty();
        for word in 0..4u8 {
            let bits = self.next()? as u64;
            for bit in (0..64).filter(|b| bits >> b & 1 != 0) {
                set.push(ClassBytesRange::new(64 * word + bit, 64 * word + bit));
            }
        }
        Some(set)
    }

    fn look(&mut self) -> Option<Look> {
        let place = self.next()?;
        self.asks.ends_before_newline |= place == 4;
        self.asks.not_a_border |= place == 6 || place == 8;
        self.asks.words_beyond_ascii |= place == 7 || place == 8;
        Some(match place {
            0 => Look::Start,
            1 | 4 => Look::End,
            2 => Look::StartLF,
            3 => Look::EndLF,
            5 | 7 => Look::WordAscii,
            6 | 8 => Look::WordAsciiNegate,
            _ => return None,
        })
    }
}

impl Program {
    /// None where the numbers say none.
    pub(super) fn read(numbers: &[i64]) -> Option<Program> {
        let mut reader = Reader { numbers: numbers.iter(), asks: Asks::default(), ends: vec![] };
        let groups = usize::try_from(reader.next()?).ok()?;
        let hir = reader.part()?;
        reader.numbers.as_slice().is_empty().then_some(Program {
            hir,
            groups,
            asks: reader.asks,
            ends: reader.ends,
        })
    }
}

/// Patterns that need more memory than this are Python's.
const MOST: usize = 1 << 20;

/// None for a pattern that is too large.
pub(super) fn compile(hir: &Hir) -> Option<meta::Regex> {
    // Texts are bytes here, and so no place between two of them is inside of a character.
    let config =
        meta::Config::new().utf8_empty(false).nfa_size_limit(Some(MOST)).hybrid_cache_capacity(MOST / 4);
    let syntax = syntax::Config::new().utf8(false).unicode(false);
    meta::Builder::new().configure(config).syntax(syntax).build_from_hir(hir).ok()
}

/// The same pattern for a whole text.
pub(super) fn whole(hir: &Hir) -> Option<meta::Regex> {
    compile(&Hir::concat(vec![hir.clone(), Hir::look(Look::End)]))
}

/// A compiled program.
pub(super) struct Engine {
    pub(super) program: Program,
    pub(super) regex: meta::Regex,
    pub(super) whole: std::sync::OnceLock<Option<meta::Regex>>,
    /// The least number of characters of a match.
    pub(super) least: usize,
}

impl Engine {
    pub(super) fn new(numbers: &[i64]) -> Option<Arc<Engine>> {
        let program = Program::read(numbers)?;
        let regex = compile(&program.hir)?;
        let least = program.hir.properties().minimum_len().unwrap_or(0);
        Some(Arc::new(Engine { program, regex, whole: Default::default(), least }))
    }
}
