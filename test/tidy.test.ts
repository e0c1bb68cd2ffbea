import { expect } from 'chai'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path/posix'
import ts from 'typescript'
import { namedIn, readDocument } from '../bench/way/document.js'

/** Rules of the house that a machine can check. Each failure names the file, the line and what to do instead. */

const root = new URL('../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

const NOT_OURS = new Set(['.git', 'node_modules', 'dist', 'bundle', 'var', '.tools', '.cache'])

function walk(folder: string): string[] {
  return readdirSync(new URL(folder, root), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`
    if (folder === '' && NOT_OURS.has(entry.name)) return []
    return entry.isDirectory() ? walk(`${path}/`) : [path]
  })
}

/** Every file of the project, by its path from the root. */
const tracked = walk('')

const sources = tracked.filter((path) => /\.tsx?$/.test(path))
const ours = sources.filter((path) => !path.startsWith('test/'))
const inRoom = (path: string, ...rooms: string[]) => rooms.includes(path.split('/')[0] ?? '')

/** What every program stands on. */
const INNER = ['core', 'interface', 'bus-schemas', 'runtime', 'chain', 'data'] as const

const ROOMS: Record<string, readonly string[]> = {
  interface: [],
  core: ['interface'],
  'bus-schemas': ['core'],
  runtime: ['core', 'bus-schemas'],
  chain: ['core'],
  data: ['core', 'bus-schemas', 'runtime'],
  actors: [...INNER],
  'api-gateway': [...INNER],
  executor: [...INNER],
  // Types alone: the package of the CCXT class has nothing of the venue in it.
  ccxt: ['interface'],
  client: ['core', 'interface'],
  mcp: ['client', 'core', 'interface'],
  devnet: [...INNER, 'client'],
  bench: [...INNER, 'actors', 'api-gateway', 'executor', 'client', 'devnet'],
  examples: ['ccxt', 'client', 'core'],
  web: ['client', 'core', 'interface'],
}

const TOP_LEVEL = new Set([...Object.keys(ROOMS), 'docs', 'test', '.ci'])

const HERE = 'test/tidy.test.ts'

/** Words that a reader has to resolve, and what to write instead. */
const PLAIN_WORDS = {
  whoever: 'the caller, the client, the owner',
  somebody: 'another client, another owner, another key',
  nobody: 'no client, no listener, not yet',
  anybody: 'any caller, any account',
  everybody: 'every client, every process',
  stranger: 'a foreign transaction, another key',
  'unless told': 'by default',
}
const UNPLAIN = new RegExp(`\\b(${Object.keys(PLAIN_WORDS).join('|')})`, 'i')

const TYPE_NAME = /^(?:export )?(?:declare )?(?:interface|type|(?:abstract )?class) ([A-Z]\w*)/gm

/** The document that quotes the words. */
const MAY_QUOTE = /^docs\/HACKING\.md$/

/** Specifiers that a file imports or re-exports, relative ones resolved to a path from the root. */
function importsOf(path: string): string[] {
  return ts
    .preProcessFile(read(path), true, true)
    .importedFiles.map(({ fileName }) =>
      fileName.startsWith('.') ? sourceOf(join(dirname(path), fileName)) : fileName,
    )
}

/** The file of which a relative specifier names the output. */
const sourceOf = (path: string): string => {
  const view = path.replace(/\.js$/, '.tsx')
  return sources.includes(view) ? view : path.replace(/\.js$/, '.ts')
}

/** What a file imports from the messages between processes, and the body of \`/execute\`, as \`file#name\`. */
function messagesIn(path: string): Set<string> {
  const file = ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest)
  const names = file.statements.filter(ts.isImportDeclaration).flatMap((each) => {
    const from = sourceOf(join(dirname(path), (each.moduleSpecifier as ts.StringLiteral).text))
    const bindings = each.importClause?.namedBindings
    if (!/^bus-schemas\/|^interface\/execute\.ts$/.test(from) || !bindings) return []
    return ts.isNamedImports(bindings)
      ? bindings.elements.map((it) => `${from}#${it.name.text}`)
      : []
  })
  return new Set(names)
}

/** What a file of the way is joined to others by. */
interface WayLinks {
  readonly path: string
  readonly imports: ReadonlySet<string>
  readonly messages: ReadonlySet<string>
}

const linksOf = (path: string): WayLinks => ({
  path,
  imports: new Set(importsOf(path)),
  messages: messagesIn(path),
})

/** Whether one of two files imports the other, or both know a message by its name. */
const areJoined = (one: WayLinks, other: WayLinks): boolean =>
  one.imports.has(other.path) ||
  other.imports.has(one.path) ||
  [...one.messages].some((name) => other.messages.has(name))

/** Lines of the files on which the pattern stands, as `path:line`. */
function findLines(paths: readonly string[], pattern: RegExp): string[] {
  return paths.flatMap((path) =>
    read(path)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  )
}

/** The same for code alone: lines that only comment do not count. */
function findCode(paths: readonly string[], pattern: RegExp): string[] {
  return findLines(paths, new RegExp(`^(?!\\s*(\\*|//|/\\*)).*(${pattern.source})`))
}

/** Bytes of all hand-written pages without the rules. */
const MOST_WRITTEN = 200_000

/** The pages that a test writes from declarations, as docs/HACKING.md lists them with their tests. */
function madePages(): string[] {
  const ROW = /^\| \[[^\]]+\]\(([^)]+\.md)\) \| .* \| `dist\/(test\/[\w./-]+)\.js` \|$/gm
  return [...read('docs/HACKING.md').matchAll(ROW)].map(([, page = '', test = '']) => {
    const source = read(`${test}.ts`)
    expect(source, `${test}.ts writes ${page}`).to.include('WRITE_DOCS').and.include(basename(page))
    return join('docs', page)
  })
}

const LONG_FILE = 600
const LONG_FUNCTION = 100

function lineCount(path: string): number {
  return read(path).trimEnd().split('\n').length
}

/** Every function of a file with its first line and its length in lines. */
function functionsOf(path: string): { line: number; lines: number }[] {
  const text = read(path)
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: { line: number; lines: number }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = file.getLineAndCharacterOfPosition(node.getStart()).line
      const last = file.getLineAndCharacterOfPosition(node.getEnd()).line
      found.push({ line: first + 1, lines: last - first + 1 })
    }
    node.forEachChild(visit)
  }
  visit(file)
  return found
}

describe('tidy', () => {
  // Where a part of its own makes sense is for its author to say; these are only named.
  after(() => {
    for (const path of tracked.filter((path) => /\.(ts|tsx|sol|sh)$/.test(path))) {
      const lines = lineCount(path)
      if (lines > LONG_FILE) console.warn(`${path} has ${lines} lines`)
    }
    for (const path of ours)
      for (const { line, lines } of functionsOf(path))
        if (lines > LONG_FUNCTION) console.warn(`${path}:${line} is a function of ${lines} lines`)
  })

  it('a room imports only the rooms it may', () => {
    const wrong = ours.flatMap((path) => {
      const room = path.split('/')[0] ?? ''
      const allowed = [room, ...(ROOMS[room] ?? [])]
      return importsOf(path)
        .filter((target) => tracked.includes(target) && !inRoom(target, ...allowed))
        .map((target) => `${path} imports ${target}`)
    })
    expect(wrong).to.deep.equal([])
  })

  it('no file imports itself by way of others, not even a type', () => {
    const left = new Map(ours.map((path) => [path, importsOf(path)]))
    const peel = (isOver: (path: string, targets: readonly string[]) => boolean): boolean => {
      const over = [...left].filter(([path, targets]) => isOver(path, targets))
      for (const [path] of over) left.delete(path)
      return over.length > 0
    }
    while (peel((_, targets) => !targets.some((target) => left.has(target))));
    const imported = () => new Set([...left.values()].flat())
    for (let of = imported(); peel((path) => !of.has(path)); of = imported());
    expect([...left.keys()], 'move what both need into a file below both').to.deep.equal([])
  })

  it('the vocabulary of core stands below what speaks it', () => {
    const model = ours.filter((path) => path.startsWith('core/model/'))
    expect(model.length).to.be.at.least(10)
    const wrong = model.flatMap((path) =>
      importsOf(path)
        .filter((target) => !/^(interface|core\/(model|wire))\/|^core\/[\w-]+\.ts$/.test(target))
        .map((target) => `${path} imports ${target}`),
    )
    expect(wrong).to.deep.equal([])
  })

  it('core is pure: no package, clock, chance, environment, log or float', () => {
    const core = ours.filter((path) => inRoom(path, 'core'))
    const packages = core.flatMap((path) =>
      importsOf(path)
        .filter((target) => !tracked.includes(target))
        .map((target) => `${path} imports ${target}`),
    )
    expect(packages).to.deep.equal([])
    const impure =
      /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\.|\bconsole\.|\bsetTimeout\b|\bparseFloat\b|\bparseUnits\b/
    expect(findCode(core, impure), 'take it as an argument').to.deep.equal([])
  })

  it('viem stays in chain, client, mcp, devnet and the examples', () => {
    const wrong = ours
      .filter(
        (path) => !inRoom(path, 'chain', 'client', 'devnet', 'bench', 'examples', 'mcp', 'web'),
      )
      .filter((path) => importsOf(path).some((target) => /^viem(\/|$)/.test(target)))
    expect(wrong, 'ask chain/ for it').to.deep.equal([])
  })

  it('each name of a type is declared in one file', () => {
    const files = new Map<string, Set<string>>()
    // A bench, an example, and the packages for CCXT and for assistants are each read on their own.
    const product = ours.filter((path) => !inRoom(path, 'bench', 'examples', 'ccxt', 'mcp'))
    for (const path of product)
      for (const [, name = ''] of read(path).matchAll(TYPE_NAME))
        files.set(name, (files.get(name) ?? new Set()).add(path))
    const twice = [...files].filter(([, paths]) => paths.size > 1)
    expect(files.size).to.be.above(1_000)
    expect(
      twice.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`),
      'import it, or say by the name what differs',
    ).to.deep.equal([])
  })

  it('SQL stays in data', () => {
    const sql = /\b(SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA )\b/
    const outside = ours.filter((path) => !inRoom(path, 'data', 'bench'))
    expect(findCode(outside, sql), 'give it a read file in data/').to.deep.equal([])
  })

  it('subjects and stream names stay in one file', () => {
    const spelled = /['"`](commands|feed|ask|transfers)\.[a-z$]|['"`](COMMANDS|FEED|CHECKPOINT)_/
    const outside = ours.filter((path) => path !== 'bus-schemas/subjects.ts')
    expect(findCode(outside, spelled), 'use bus-schemas/subjects.ts').to.deep.equal([])
  })

  it('the environment is read in config files only', () => {
    const outside = ours.filter((path) => !/(^|[/-])config\.ts$/.test(path))
    expect(findCode(outside, /\bprocess\.env\b/), 'add it to a config.ts').to.deep.equal([])
  })

  it('a number that a node or a contract says breaks no invariant', () => {
    const asking = ours.filter((path) => inRoom(path, 'chain', 'actors', 'executor', 'api-gateway'))
    const instead = 'use blockTimeSec for a time, exactOf of chain/reads/answer-form for the rest'
    expect(findCode(asking, /\bexactNumber\b/), instead).to.deep.equal([])
  })

  it('money paths use no float', () => {
    const money = ours.filter((path) => !inRoom(path, 'devnet', 'bench', 'examples'))
    expect(findCode(money, /\bparseFloat\b|\bparseUnits\b|\bformatUnits\b/)).to.deep.equal([])
  })

  it('only the contract records and their registries ask for the contract type', () => {
    const records = /^(core|chain)\/contracts\/|^core\/model\/market\.ts$|^interface\/market\.ts$/
    const asks =
      /contract_?[tT]ype\s*[!=]==|[!=]==\s*[\w.]*contract_?[tT]ype\b|switch \(.*contract_?[tT]ype|['"](spot|perpetual|future|deliverable_fx_future)['"]|['"](amountStep|settlementType)['"] in /
    // CCXT's own words for kinds of markets are two of these.
    const outside = ours.filter((path) => !records.test(path) && !inRoom(path, 'bench', 'ccxt'))
    expect(findCode(outside, asks), 'ask contractOf(market), or chainContractOf').to.deep.equal([])
    // What only some kinds have of a market entry is a kind by another name.
    const parts = /\b(perp|future)\b\)?\s*[!=]==|\{[^}]*\b(perp|future)\b[^}]*\}: MarketEntry/
    const client = ours.filter((path) => inRoom(path, 'client', 'mcp'))
    expect(findCode(client, parts), 'ask a file of core/contracts').to.deep.equal([])
  })

  it('every file is reached from an entry point', () => {
    const entry =
      /\/(main|worker|claim-writer-thread)\.tsx?$|^devnet\/(up|with-bus|demo-accounts|demo-maker|feeder|build-contracts|build-page|build-programs|build-client|build-ccxt|build-mcp)\.ts$|^(bench|examples)\/|^web\/docs\/|\.d\.ts$/
    const reached = new Set<string>()
    const visit = (path: string): void => {
      if (reached.has(path) || !sources.includes(path)) return
      reached.add(path)
      importsOf(path).forEach(visit)
    }
    ours.filter((path) => entry.test(path)).forEach(visit)
    visit('client/index.ts')
    visit('ccxt/index.ts')
    // What only tests and simulations run, and the contracts' interface, which is kept whole.
    const kept = ['core/engine/check-state.ts', 'runtime/bus/memory-bus.ts']
    kept.push(...ours.filter((path) => path.startsWith('chain/abi/')))
    kept.forEach(visit)
    expect(ours.filter((path) => !reached.has(path))).to.deep.equal([])
  })

  it('rooms have their names, and no room is a drawer', () => {
    const folders = new Set(
      tracked.filter((path) => path.includes('/')).map((path) => path.split('/')[0]),
    )
    expect([...folders].filter((folder) => !TOP_LEVEL.has(folder ?? ''))).to.deep.equal([])
    const drawer = /(^|\/)(utils?|shared|common|lib|helpers?)(\/|\.ts$)/
    expect(tracked.filter((path) => drawer.test(path))).to.deep.equal([])
  })

  it('nothing is left to do in a comment, nothing is skipped, nothing names the outside', () => {
    const texts = tracked.filter(
      (path) =>
        path !== HERE &&
        /\.(ts|sol|md|sh|json|book|sql)$/.test(path) &&
        path !== 'package-lock.json',
    )
    expect(findLines(texts, /\b(TODO|FIXME|XXX)\b/)).to.deep.equal([])
    const tests = sources.filter((path) => path !== HERE)
    expect(findLines(tests, /\b(it|describe)\.(only|skip)\(|\bthis\.skip\(/)).to.deep.equal([])
    // What a test waits for ends by itself (test/support/eventually.ts); `run-tests` tries limits.
    const patient = tests.filter((path) => path !== 'test/run-tests.test.ts')
    expect(findLines(patient, /\bthis\.timeout\(|^ *\}\)\.timeout\(/)).to.deep.equal([])
    // Tries as many cases more as PROPERTY_RUNS says.
    const asserted = tests.filter((path) => read(path).includes('fc.assert('))
    const fixed = /^(?!.*fc\.sample\().*numRuns: (?!runs\()/
    expect(findLines(asserted, fixed)).to.deep.equal([])
    expect(findLines(texts, /\.\.\/shared\/|\/work\/|\/root\//)).to.deep.equal([])
  })

  it('the words are plain', () => {
    const texts = tracked.filter(
      (path) =>
        /\.(tsx?|sol|sh|md|py|book|sql)$/.test(path) && path !== HERE && !MAY_QUOTE.test(path),
    )
    const advice = Object.entries(PLAIN_WORDS).map(([word, plain]) => `${word}: ${plain}`)
    expect(findLines(texts, UNPLAIN), `write instead: ${advice.join('; ')}`).to.deep.equal([])
  })

  it("the nine sections of an order's way are a path through at most 45 files, all of which run", () => {
    const sections = [...read('docs/ARCHITECTURE.md').matchAll(/^\| \d \|.*$/gm)].map(([row]) =>
      [...row.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) => path),
    )
    expect(sections).to.have.length(9)
    const named = sections.flat()
    expect(named.filter((path) => !tracked.includes(path))).to.deep.equal([])
    expect(named).to.have.length.at.most(45)
    // What a venue ran while orders traded: `test/e2e/order-way.test.ts` compares that page with a venue.
    const ran = namedIn(readDocument())
    const all = [...ran.always, ...ran.also]
    expect(named.filter((path) => !all.includes(path))).to.deep.equal([])
    const files = named.map(linksOf)
    const apart = files.filter(
      (file, at) => at > 0 && !files.slice(0, at).some((before) => areJoined(file, before)),
    )
    expect(
      apart.map(({ path }) => path),
      'name the file between, or put it after the one that calls it',
    ).to.deep.equal([])
  })

  it('hand-written pages have at most 200 KB together, without the rules', () => {
    const made = madePages()
    expect(made).to.have.length.above(7)
    const written = tracked.filter(
      (path) => path.endsWith('.md') && !path.startsWith('docs/rules/') && !made.includes(path),
    )
    expect(written).to.have.length.above(20)
    const bytes = written.reduce((sum, path) => sum + Buffer.byteLength(read(path)), 0)
    const over = `hand-written pages have ${bytes - MOST_WRITTEN} bytes too many: say each thing in one page and link to it, or leave out what the code says`
    expect(bytes, over).to.be.at.most(MOST_WRITTEN)
  })

  it('documents link only to what exists', () => {
    const broken = tracked
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) =>
        [...read(path).matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
          .map(([, target]) => join(dirname(path), target ?? ''))
          .filter((target) => !existsSync(new URL(target, root)))
          .map((target) => `${path} → ${target}`),
      )
    expect(broken).to.deep.equal([])
  })
})
