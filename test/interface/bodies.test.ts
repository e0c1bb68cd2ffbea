import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import fc from 'fast-check'
import type { z } from 'zod'
import { toJson } from '../../api-gateway/openapi.js'
import {
  fitting,
  hostile,
  nearly,
  resolved,
  type Schema,
} from '../api-gateway/fuzz/arbitrary-json.js'
import { isObject, type Fields, type Kind } from './kind.js'
import { kinds } from './kinds.js'
import { runs } from '../support/property-runs.js'

/**
 * core/entry and the fan-out check the bodies of requests and the frames of clients, interface/ declares their shapes. What a
 * check accepts must be declared, and what is declared is refused only for what a schema does not say. Left out is
 * `POST /execute`, which the executor reads by its schema.
 */

/** A body without its null and empty fields, which count as absent, also in its objects. */
const present = (body: Fields): Fields =>
  Object.fromEntries(
    Object.entries(body)
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => [name, isObject(value) ? present(value) : value]),
  )

/** The same value in another spelling that core/entry reads alike. */
function respelled(value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (/^[0-9]+$/.test(value)) return `00${value}`
  if (/^[0-9]+\.[0-9]{1,17}$/.test(value)) return `${value}0`
  if (/^0x[0-9a-f]+$/i.test(value)) return `0x${value.slice(2).toUpperCase()}`
  return value
}

/** Valid bodies, some with a field respelled, replaced, dropped or added, at the top or in one of their objects. */
function bodiesOf({ valid, objects, schema }: Kind): fc.Arbitrary<Fields> {
  const taken = fc.constantFrom(...valid)
  const names = Object.keys(schema.shape)
  const spoiled = objects.map((name) =>
    taken.chain((body) => {
      const inner = body[name]
      if (!isObject(inner)) return fc.constant(body)
      const changed = fc.oneof(
        nearly(fc.constant(inner), Object.keys(inner)),
        fc.constantFrom(...Object.keys(inner)).map((each) => ({
          ...inner,
          [each]: respelled(inner[each]),
        })),
      )
      return changed.map((object) => ({ ...body, [name]: object }))
    }),
  )
  const spelled = fc
    .tuple(taken, fc.subarray(names))
    .map(([body, some]) =>
      Object.fromEntries(
        Object.entries(body).map(([name, value]) => [
          name,
          some.includes(name) ? respelled(value) : value,
        ]),
      ),
    )
  return fc.oneof(taken, spelled, nearly(taken, names), ...spoiled)
}

interface Declared {
  readonly schema: Schema
  readonly named: Readonly<Record<string, Schema>>
  /** What of the body the published schema does not allow; undefined when it allows all. */
  readonly fault: (body: unknown) => string | undefined
}

/** The schema as it is published, which says more than the one that it is made of. */
function declaredOf(schema: z.ZodType): Declared {
  const named: Record<string, Schema> = {}
  const json: Schema = toJson(schema, named as Record<string, Record<string, unknown>>)
  const ajv = new Ajv2020({ strictTypes: false, validateFormats: false })
  ajv.addVocabulary(['components'])
  const validate = ajv.compile({ ...json, components: { schemas: named } })
  const fault = (body: unknown) => (validate(body) ? undefined : ajv.errorsText(validate.errors))
  return { schema: resolved(json, named), named, fault }
}

/** A body that is accepted with one of its fields, or a field of its objects, replaced by another that is declared. */
function nearlyFitting({ valid, objects }: Kind, { schema, named }: Declared) {
  const swapped = (body: Fields, { properties = {} }: Schema): fc.Arbitrary<Fields>[] =>
    Object.entries(properties).map(([name, each]) =>
      fitting(each, named).map((value) => ({ ...body, [name]: value })),
    )
  const ofBody = (body: Fields): fc.Arbitrary<Fields> => {
    const within = objects.flatMap((name) => {
      const inner = body[name]
      const declared = resolved(schema.properties?.[name] ?? {}, named)
      const object = resolved(declared.anyOf?.[0] ?? declared, named)
      if (!isObject(inner)) return []
      return swapped(inner, object).map((each) => each.map((value) => ({ ...body, [name]: value })))
    })
    return fc.oneof(...swapped(body, schema), ...within)
  }
  return fc.oneof(...valid.map(ofBody))
}

for (const [name, kind] of Object.entries(kinds)) {
  const { schema, valid, refusalOf, shapeRefusalOf, unread = () => [] } = kind
  const { beyondSchema, beyondBody } = kind

  describe(`the body of a new ${name}`, () => {
    const declared = declaredOf(schema)

    it('is declared whenever it is accepted', () => {
      for (const body of valid) expect(refusalOf(body)).to.equal(undefined)
      let accepted = 0
      let refused = 0
      fc.assert(
        fc.property(bodiesOf(kind), (body) => {
          if (refusalOf(body) !== undefined) {
            refused += 1
            return
          }
          accepted += 1
          const read = present(body)
          // Of a frame; an empty one is one.
          if (body.req_id === '') read.req_id = ''
          for (const field of unread(read)) delete read[field]
          expect(declared.fault(read)).to.equal(undefined)
        }),
        { numRuns: runs(1_000) },
      )
      expect([accepted > 40, refused > 40]).to.deep.equal([true, true])
    })

    it('is refused for anything that is not an object', () => {
      fc.assert(
        fc.property(
          hostile.filter((value) => !isObject(value)),
          (value) => {
            expect(declared.fault(value)).not.to.equal(undefined)
            expect(refusalOf(value)).to.be.oneOf(['invalid_json', 'invalid_index_status'])
          },
        ),
      )
    })

    it('is refused in shape only for what the schema does not say, once it fits the schema', () => {
      fc.assert(
        fc.property(fitting(declared.schema, declared.named), (body) => {
          expect(declared.fault(body)).to.equal(undefined)
          expect([undefined, ...beyondSchema]).to.include(shapeRefusalOf(body))
        }),
        { numRuns: runs(300) },
      )
    })

    it('is refused only for what no schema says when one field is another that fits the schema', () => {
      fc.assert(
        fc.property(nearlyFitting(kind, declared), (body) => {
          if (declared.fault(body) !== undefined) return
          expect([undefined, ...beyondSchema, ...beyondBody]).to.include(refusalOf(body))
        }),
        { numRuns: runs(300) },
      )
    })
  })
}
