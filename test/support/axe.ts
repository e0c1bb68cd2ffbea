import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What axe finds wrong with what the page shows now, each with the first element at fault; it leaves out what `exclude` selects. Behind
 * an open dialog nothing can be reached, and nothing is looked at.
 */
export async function wrongOf(
  page: Page,
  exclude: readonly string[] = [],
): Promise<readonly string[]> {
  if (await page.evaluate<boolean>('globalThis.axe === undefined')) await page.evaluate(axe)
  const shown = "document.querySelector('dialog[open]') ?? document"
  const scope = exclude.length === 0 ? shown : JSON.stringify({ exclude })
  const run = `axe.run(${scope}, { resultTypes: ['violations'] })`
  const found = await page.evaluate<{ violations: readonly Violation[] }>(run)
  return found.violations.map(
    ({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`,
  )
}
