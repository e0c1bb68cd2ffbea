/** The few things that the page does with the document. Text is always set as text: nothing of the venue becomes markup. */

type Child = Node | string | undefined
type Properties = Readonly<Record<string, string | boolean | ((event: Event) => void) | undefined>>

/** An element; properties beginning with `on` are listeners, all others attributes. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else element.setAttribute(name, value === true ? '' : value)
  }
  element.append(...children.filter((child) => child !== undefined))
  return element
}

/** An element of an SVG drawing. */
export function svg(tag: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  return element
}

/** A table of texts, each cell with an optional class. */
export function table(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
): HTMLElement {
  const head = el('tr', {}, ...heads.map((text) => el('th', { scope: 'col' }, text)))
  const body = rows.map((cells) => el('tr', {}, ...cells.map(cellOf)))
  return el(
    'div',
    // Reached by the keyboard, because it may be wider than the screen.
    { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': caption },
    el('table', {}, el('caption', {}, caption), el('thead', {}, head), el('tbody', {}, ...body)),
  )
}

export type Cell = string | Node | { readonly text: string; readonly class: string }

const cellOf = (cell: Cell): HTMLElement =>
  typeof cell === 'string' || cell instanceof Node
    ? el('td', {}, cell)
    : el('td', { class: cell.class }, cell.text)

/** A section of the page with a heading, and what fills it. */
export function panel(title: string, className = ''): { section: HTMLElement; body: HTMLElement } {
  const body = el('div')
  return { section: el('section', { class: className }, el('h2', {}, title), body), body }
}

/** The element with this id, which the page's own markup has. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`no element ${id}`)
  return found
}
