import { readFileSync } from 'node:fs'
import { inProject } from '../../devnet/launcher/binaries.js'

/** A page of docs, as an operator reads it. */
export interface Page {
  /** The text of the one code block that has this text, with other words in place of the page's. Throws where there is none. */
  block(text: string, places?: Readonly<Record<string, string>>): string
  /** The text of the code span that begins so. Throws where there is none. */
  span(start: string, places?: Readonly<Record<string, string>>): string
  /** Each command of a code block or of a code span, on one line, without the settings before it. */
  commands(): readonly string[]
}

/** What an operator runs. */
const COMMAND =
  /^(\.\/venue |docs\/operating\/|systemctl |systemd-|openssl |nats-server |docker |age-keygen |sqlite3 |set -a)/

/** Reads a page as it stands, so that a test of its commands cannot differ from it. */
export function readPage(path: string): Page {
  const text = readFileSync(inProject(path), 'utf8')
  const FENCE = /^( *)```\n(.*?)^ *```$/gms
  const blocks = [...text.matchAll(FENCE)].map(([, indent = '', found = '']) =>
    found.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
  const spans = [...text.replaceAll(FENCE, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) =>
    span.replaceAll('\n', ' '),
  )
  return {
    block(wanted, places = {}) {
      const found = blocks.filter((each) => each.includes(wanted))
      const [one] = found
      if (one === undefined || found.length > 1)
        throw new Error(`${path} has ${found.length} code blocks with ${wanted}`)
      return inPlace(one, places)
    },
    span(start, places = {}) {
      const found = spans.find((each) => each.startsWith(start))
      if (found === undefined) throw new Error(`${path} has no code span that begins with ${start}`)
      return inPlace(found, places)
    },
    commands() {
      return [...blocks.map(joined), ...spans]
        .flatMap((each) => each.split(/\n| && |; (?=\.)/))
        .map((each) => each.trim().replace(/^([A-Z_]+=\S+ +)+/, ''))
        .filter((each) => COMMAND.test(each))
    },
  }
}

/** Lines that a backslash, or an open quotation, continues, are one. */
const joined = (block: string): string =>
  block.replaceAll('\\\n', ' ').replaceAll(/"[^"]*"/g, (quoted) => quoted.replaceAll('\n', ' '))

/** A text of the page with what is a test's own in place of the page's. Throws where the page does not name it. */
export function inPlace(text: string, places: Readonly<Record<string, string>>): string {
  return Object.entries(places).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`the page does not name ${from}`)
    return changed.replaceAll(from, to)
  }, text)
}
