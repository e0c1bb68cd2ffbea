/** What Swagger UI leaves out for those who do not see its page, or use no pointer. */

interface Mend {
  readonly selector: string
  readonly attribute: 'aria-label' | 'aria-level' | 'role' | 'tabindex'
  readonly value: string | ((element: Element) => string)
}

/** A parameter's own name. */
const parameterName = (field: Element): string =>
  field.closest<HTMLElement>('tr[data-param-name]')?.dataset.paramName ?? 'Value'

/** The first that fits an element and an attribute counts. */
const MENDS: readonly Mend[] = [
  { selector: '.servers select', attribute: 'aria-label', value: 'Server' },
  { selector: '.body-param textarea', attribute: 'aria-label', value: 'Request body' },
  {
    selector: '.opblock-section-request-body select',
    attribute: 'aria-label',
    value: 'Type of the request body',
  },
  { selector: '.responses-wrapper select', attribute: 'aria-label', value: 'Type of the response' },
  { selector: '.examples-select select', attribute: 'aria-label', value: 'Example' },
  { selector: '.parameters :is(select, input)', attribute: 'aria-label', value: parameterName },
  { selector: 'table.responses-table', attribute: 'aria-label', value: ({ id }) => id },
  { selector: '.information-container', attribute: 'role', value: 'banner' },
  { selector: '.scheme-container', attribute: 'role', value: 'region' },
  { selector: '.scheme-container', attribute: 'aria-label', value: 'Server and access' },
  // The title is of the first level, and nothing of the second.
  { selector: 'h3.opblock-tag', attribute: 'aria-level', value: '2' },
  { selector: '.models > h4', attribute: 'aria-level', value: '2' },
  { selector: '.opblock-tag-section h4', attribute: 'aria-level', value: '3' },
  { selector: '.opblock-tag-section h5', attribute: 'aria-level', value: '4' },
  { selector: 'pre.microlight', attribute: 'tabindex', value: '0' },
]

/** Mends each element below `page`, also those that are shown later. What has a value of its own keeps it. */
export function mendElements(page: Element): void {
  const mendAll = (): void => {
    for (const { selector, attribute, value } of MENDS) {
      for (const element of page.querySelectorAll(selector)) {
        if (element.getAttribute(attribute)) continue
        element.setAttribute(attribute, typeof value === 'string' ? value : value(element))
      }
    }
  }
  new MutationObserver(mendAll).observe(page, { childList: true, subtree: true })
  mendAll()
}
