import { readdirSync, readFileSync } from 'node:fs'
import { expect } from 'chai'
import { z } from 'zod'

const root = new URL('../../', import.meta.url)
const ROOMS = ['actors', 'api-gateway', 'bus-schemas', 'devnet', 'executor', 'runtime']
/** What the system itself sets. */
const OF_THE_SYSTEM = ['PATH']

/** The config.ts files of the rooms, as paths from the root. */
const configs = ROOMS.flatMap((room) =>
  readdirSync(new URL(room, root), { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|\/)config\.ts$/.test(path))
    .map((path) => `${room}/${path}`),
)

type Setting = readonly [name: string, schema: z.ZodType]

/** The settings that a config file's schemas know. */
async function settingsOf(path: string): Promise<Setting[]> {
  const module = (await import(new URL(`dist/${path.replace(/ts$/, 'js')}`, root).href)) as Record<
    string,
    unknown
  >
  const schemas = Object.values(module).filter((value) => value instanceof z.ZodObject)
  expect(schemas, `${path} exports its schema`).to.have.length.above(0)
  return schemas.flatMap(({ shape }) => Object.entries(shape as Record<string, z.ZodType>))
}

/** What a Procfile line sets by itself. */
const setInProcfile = (): string[] => {
  const text = readFileSync(new URL('Procfile', root), 'utf8')
  return [...text.matchAll(/([A-Z_]+)=/g)].map(([, name = '']) => name)
}

describe('.env.example', () => {
  const lines = readFileSync(new URL('.env.example', root), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [[name, value] as const]
    })
  const named = lines.map(([name]) => name)
  let settings: Setting[]
  before(async () => {
    settings = (await Promise.all(configs.map(settingsOf))).flat()
  })

  it('names each setting once', () => {
    expect(named).to.deep.equal([...new Set(named)])
  })

  it('names the settings that the processes and the launcher read, and no others', () => {
    const known = new Set(settings.map(([name]) => name))
    const elsewhere = new Set([...OF_THE_SYSTEM, ...setInProcfile()])
    expect([...named].sort()).to.deep.equal([...known].filter((it) => !elsewhere.has(it)).sort())
  })

  it('bounds every number: none that is far beyond use is taken', () => {
    const takes = (schema: z.ZodType, value: string): boolean => schema.safeParse(value).success
    const numbers = settings.filter(
      ([, schema]) =>
        ['1', '7', '500', '2000'].some((value) => takes(schema, value)) && !takes(schema, 'abc'),
    )
    expect(numbers).to.have.length.above(20)
    for (const [name, schema] of numbers)
      for (const digits of [16, 21, 40, 400])
        // Amounts of money are bigints, and accounts of the demo are whole uint256.
        if (!/WEI|FEE$|SUBACCOUNT/.test(name) || digits > 40)
          expect(takes(schema, '9'.repeat(digits)), `${name} of ${digits} digits`).to.equal(false)
  })

  it('shows each default as it is', () => {
    const shown = new Map(lines)
    const withDefault = settings.flatMap(([name, schema]) => {
      const absent = schema.safeParse(undefined)
      return absent.success && absent.data !== undefined
        ? [[name, schema, absent.data] as const]
        : []
    })
    expect(withDefault).to.have.length.above(10)
    for (const [name, schema, standard] of withDefault) {
      const value = shown.get(name)
      if (value !== '') expect(schema.parse(value), name).to.deep.equal(standard)
    }
  })
})
