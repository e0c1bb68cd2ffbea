import { expect } from 'chai'
import { readdirSync } from 'node:fs'
import { WIRE_VERSION } from '../../bus-schemas/envelope.js'
import { orderText } from '../../bus-schemas/orders.js'
import { transferText } from '../../bus-schemas/transfers.js'

const migrations = new URL('../../../data/migrations/', import.meta.url)

/**
 * The texts that databases store. `since` names, for each version after the first, the migration that came with it: an
 * earlier release then refuses the file, and does not stop at a row in the midst of it.
 */
const STORED: readonly {
  readonly text: { readonly version: number }
  readonly folder: string
  readonly since: Readonly<Record<number, string>>
}[] = [
  { text: orderText, folder: 'history', since: {} },
  { text: transferText, folder: 'transfers', since: {} },
]

describe('a stored text', () => {
  for (const { text, folder, since } of STORED) {
    it(`of ${folder}.db has a migration of its own for every further version`, () => {
      const further = Array.from({ length: text.version - WIRE_VERSION }, (_, n) =>
        String(WIRE_VERSION + 1 + n),
      )
      expect(Object.keys(since)).to.deep.equal(further)
      const files = readdirSync(new URL(folder, migrations))
      expect(files).to.include.members(Object.values(since))
      expect(new Set(Object.values(since)).size).to.equal(further.length)
    })
  }
})
