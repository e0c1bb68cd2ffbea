/**
 * A field that finds words in a long document: what has none of them is hidden, rows of tables and points of lists each by itself, and
 * headings with nothing left below them. Without this script the page is whole.
 */

const main = document.querySelector('main')
const title = main?.querySelector('h1')
if (main !== null && title !== null && title !== undefined) addField(main, title)

function addField(main: HTMLElement, title: HTMLElement): void {
  const field = document.createElement('input')
  field.type = 'search'
  const label = document.createElement('label')
  label.append('Find ', field)
  const found = document.createElement('span')
  found.setAttribute('role', 'status')
  const form = document.createElement('div')
  form.className = 'find'
  form.append(label, ' ', found)
  title.after(form)
  field.addEventListener('input', () => {
    const count = show(main, wordsIn(field.value))
    found.textContent = field.value.trim() === '' ? '' : `${count} found`
  })
}

const wordsIn = (text: string): string[] => text.toLowerCase().split(/\s+/).filter(Boolean)

/** Shows what has all words, and resolves with how much that is. */
function show(main: HTMLElement, words: readonly string[]): number {
  const has = (element: Element): boolean =>
    words.every((word) => (element.textContent ?? '').toLowerCase().includes(word))
  let count = 0
  const hideUnless = (element: HTMLElement, isShown: boolean): void => {
    element.hidden = !isShown
    if (isShown) count += 1
  }
  const items = main.querySelectorAll<HTMLElement>('tbody tr, main > ul > li, main > ol > li')
  for (const item of items) hideUnless(item, has(item))
  for (const text of main.querySelectorAll<HTMLElement>('main > p, main > pre'))
    hideUnless(text, has(text))
  for (const whole of main.querySelectorAll<HTMLElement>('main > table, main > ul, main > ol')) {
    whole.hidden = whole.querySelector('tbody tr:not([hidden]), li:not([hidden])') === null
  }
  hideEmptyHeadings(main)
  return count
}

/** A heading is shown when something is, down to the next one of its level or above. */
function hideEmptyHeadings(main: HTMLElement): void {
  const below = [...main.children].reverse() as HTMLElement[]
  /** Whether something is shown since the last heading of each level. */
  let shown = [false, false, false, false]
  for (const element of below) {
    const [, level] = /^H([23])$/.exec(element.tagName) ?? []
    if (level === undefined) {
      const isText = !['H1', 'NAV'].includes(element.tagName) && element.className !== 'find'
      if (isText && !element.hidden) shown = shown.map(() => true)
    } else {
      const depth = Number(level)
      element.hidden = shown[depth] !== true
      shown = shown.map((is, at) => (at < depth ? is : false))
    }
  }
}
