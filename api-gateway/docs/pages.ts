import { Marked, type Tokens } from 'marked'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { limitsTable } from '../client-limits.js'
import { builtFile, fileAsset, type Asset } from '../pages.js'
import { codesPage } from './codes-page.js'
import { socketPage } from './socket-page.js'

const STYLE = Buffer.from(`:root { color-scheme: light dark }
body { background: Canvas; color: CanvasText; font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 70rem; padding: 1rem }
nav a { margin-right: 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top }
pre { background: #8882; overflow-x: auto; padding: .6rem }
.contents ul { columns: 16rem; list-style: none; padding: 0 }
.contents .depth-3 { padding-left: 1rem }
.find { background: Canvas; padding: .4rem 0; position: sticky; top: 0 }
.find input { font: inherit; width: min(24rem, 60%) }
[hidden] { display: none }
`)

/** The documents that the gateway serves with the interface, by their names below `/docs/`. */
export const documents: ReadonlyMap<string, Asset> = new Map([
  ['start', document('Start', readStart)],
  ['codes', document('Codes', () => Promise.resolve(codesPage()))],
  ['feed', document('The feed', () => Promise.resolve(socketPage()))],
  ['first-fill', document('From zero to first fill', () => readDocument('FIRST-FILL.md'))],
  ['rules', document('Rules', readRules)],
  ['find.js', fileAsset(builtFile('docs/find.js'), 'text/javascript')],
  ['document.css', { type: 'text/css; charset=utf-8', read: () => Promise.resolve(STYLE) }],
])

const readSource = (name: string): Promise<string> =>
  readFile(fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url)), 'utf8')

/** A document of the source tree; its links to other documents become links between the pages. */
const readDocument = async (name: string): Promise<string> =>
  (await readSource(name))
    .replaceAll('(CODES.md)', '(codes)')
    .replaceAll('(FIRST-FILL.md)', '(first-fill)')
    .replace(/\[([^\]]+)\]\([A-Z-]+\.md\)/g, '`docs/`: $1')

/** The first page of a market maker, with the limits of this release. */
async function readStart(): Promise<string> {
  return (await readDocument('START.md')).replace('<!-- limits -->', limitsTable())
}

/** All rules, the chapters in the order of their list; links between chapters become links within the page. */
async function readRules(): Promise<string> {
  const list = await readSource('rules/README.md')
  const names = [...list.matchAll(/^\| \[.+\]\(([a-z]+)\.md\)/gm)].map(([, name = '']) => name)
  const texts = await Promise.all(names.map((name) => readSource(`rules/${name}.md`)))
  const headings = texts.map((text) => idOf(text.slice(2, text.indexOf('\n'))))
  const headingOf = (name: string) => headings[names.indexOf(name)] ?? name
  return texts
    .join('\n')
    .replace(/\]\(([a-z]+)\.md\)/g, (_, name: string) => `](#${headingOf(name)})`)
    .replace(/\[([^\]]+)\]\(\.\.\/[A-Z-]+\.md\)/g, '`docs/`: $1')
}

/** A page made once, at its first use. */
function document(title: string, markdown: () => Promise<string>): Asset {
  let page: Buffer | undefined
  return {
    type: 'text/html; charset=utf-8',
    read: async () => (page ??= Buffer.from(pageOf(title, await markdown()))),
  }
}

/** A page with so many headings has a table of contents, and a field that finds words in it. */
const LONG_FROM = 5

interface Heading {
  readonly id: string
  readonly depth: number
  readonly html: string
}

/** The headings below the title, of the two levels that parts of a page have. */
const headingsIn = (content: string): Heading[] =>
  [...content.matchAll(/<h([23]) id="([^"]+)">(.*?)<\/h\1>/g)].map(
    ([, depth = '', id = '', html = '']) => ({ id, depth: Number(depth), html }),
  )

const contentsOf = (
  headings: readonly Heading[],
): string => `<nav class="contents" aria-label="Contents">
<ul>
${headings.map(({ id, depth, html }) => `<li class="depth-${depth}"><a href="#${id}">${html}</a></li>`).join('\n')}
</ul>
</nav>
`

function pageOf(title: string, markdown: string): string {
  const content = renderMarkdown(markdown)
  const headings = headingsIn(content)
  if (headings.length < LONG_FROM) return frameOf(title, content)
  const [heading = '', ...rest] = content.split('</h1>\n')
  const whole = `${heading}</h1>\n${contentsOf(headings)}${rest.join('</h1>\n')}`
  return frameOf(title, whole, '<script type="module" src="find.js"></script>\n    ')
}

const frameOf = (title: string, content: string, script = ''): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Order-book venue: ${title}</title>
    <link rel="stylesheet" href="document.css">
    ${script}<link rel="icon" type="image/png" href="favicon-32x32.png">
  </head>
  <body>
    <nav aria-label="Documents"><a href="start">Start</a><a href="../docs">Interface</a><a href="feed">Feed</a><a href="codes">Codes</a><a href="first-fill">First fill</a><a href="rules">Rules</a><a href="../">Market page</a></nav>
    <main>
${content}
    </main>
  </body>
</html>
`

/**
 * Renders the Markdown of the documents that the gateway serves. Markup in the source is shown as text; headings have an id
 * made of their words, and the id of a rule is one of the page.
 */
export const renderMarkdown = (text: string): string => marked.parse(text, { async: false })

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

const escape = (text: string): string => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)

/** The id of a heading in its page. */
const idOf = (heading: string): string => heading.toLowerCase().replace(/[^a-z0-9]+/g, '-')

const marked = new Marked({
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escape(text),
    heading({ tokens, depth, text }: Tokens.Heading) {
      return `<h${depth} id="${idOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
    strong({ tokens, text }: Tokens.Strong) {
      const id = /^[A-Z]{3}-\d{3}$/.test(text) ? ` id="${text}"` : ''
      return `<strong${id}>${this.parser.parseInline(tokens)}</strong>`
    },
  },
})
