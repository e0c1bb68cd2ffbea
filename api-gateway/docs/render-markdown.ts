import { Marked, type Tokens } from 'marked'

/**
 * Renders the Markdown of the documents that the gateway serves. Markup in the source is shown as text; headings have an id
 * made of their words.
 */
export const renderMarkdown = (text: string): string => marked.parse(text, { async: false })

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

const escape = (text: string): string => text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)

const marked = new Marked({
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escape(text),
    heading({ tokens, depth, text }: Tokens.Heading) {
      const id = text.toLowerCase().replace(/[^a-z0-9]+/g, '-')
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`
    },
  },
})
