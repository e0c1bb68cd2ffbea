import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { orderText } from '../../bus-schemas/orders.js'
import { readOptions } from '../../core/entry/order-body.js'
import { orderRecordJson } from '../../core/records/order-record.js'
import { NewOrder, OrderRecord } from '../../interface/order.js'
import { ORDER_OPTIONS, type OrderOption } from '../../interface/order-options.js'
import { aMarket, anOrder, progressOf } from '../support/builders.js'

const root = new URL('../../../', import.meta.url)
const ROOMS = ['actors', 'api-gateway', 'bus-schemas', 'chain', 'client', 'core', 'data']
const OTHERS = ['devnet', 'executor', 'interface', 'runtime']

const files = [...ROOMS, ...OTHERS].flatMap((room) =>
  readdirSync(new URL(`${room}/`, root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .map((path) => `${room}/${path}`),
)
const texts = new Map(files.map((path) => [path, readFileSync(new URL(path, root), 'utf8')]))

/** A value that an order keeps, as it is sent. */
function sentOf({ declared, kept }: OrderOption): unknown {
  if ('flag' in declared) return true
  return 'lease' in declared ? 'ab'.repeat(16) : kept[0]
}

describe('options of an order', () => {
  for (const option of ORDER_OPTIONS) {
    const { name, key } = option
    const value = sentOf(option)
    const order = anOrder({ [key]: value })

    it(`${name} is read from a body, logged and shown as it was sent`, () => {
      expect(readOptions({ [name]: value })).to.deep.equal({ options: { [key]: value } })
      expect(orderText.read(orderText.write(order))).to.deep.equal(order)
      const shown = { order, progress: progressOf(order) }
      const record = JSON.parse(orderRecordJson(aMarket(), shown)) as Record<string, unknown>
      expect(record[name]).to.equal(value)
      expect(OrderRecord.shape[name].safeParse(value).success).to.equal(true)
      expect(NewOrder.shape[name].safeParse(value).success).to.equal(true)
    })

    it(`${name} with a value of another kind is refused, in a body and by the documents`, () => {
      for (const wrong of [7, 'another']) {
        const { options, refusal } = readOptions({ [name]: wrong })
        expect(options).to.deep.equal({})
        expect(refusal).to.include({ code: `invalid_${name}`, field: name })
        expect(NewOrder.shape[name].safeParse(wrong).success).to.equal(false)
      }
    })
  }

  it('one more of them touches at most four product files: stp_scope stands in no more', () => {
    const named = [...texts].filter(([, text]) => /\bstp_scope\b|\bstpScope\b/.test(text))
    expect(named.map(([path]) => path)).to.have.members([
      ...['interface/order-options.ts', 'interface/reasons.ts'],
      'core/engine/controls.ts',
      'bus-schemas/orders.ts',
    ])
  })
})
