import ts from 'typescript'
import { z } from 'zod'

/** Where a type of the interface is declared. */
interface SchemaName {
  /** Path of its module from the root. */
  readonly path: string
  readonly name: string
}

/** The schemas of the interface that have a type of the same name, by the schema itself. */
export type NamedSchemas = ReadonlyMap<unknown, SchemaName>

/** What the modules of the interface export when they run, by their path from the root. */
export type Modules = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** Finds the types of which another one may be written by name. */
export function namedSchemas(
  program: ts.Program,
  sources: ReadonlyMap<string, ts.SourceFile>,
  modules: Modules,
): NamedSchemas {
  const checker = program.getTypeChecker()
  const found = new Map<unknown, SchemaName>()
  for (const [path, source] of sources) {
    for (const symbol of exportsOf(checker, source)) {
      const schema = modules.get(path)?.[symbol.name]
      if (schema instanceof z.ZodType && aliasOf(symbol) !== undefined && !found.has(schema)) {
        found.set(schema, { path, name: symbol.name })
      }
    }
  }
  return found
}

export interface FlatTypesParts {
  readonly program: ts.Program
  readonly path: string
  readonly source: ts.SourceFile
  readonly modules: Modules
  readonly names: NamedSchemas
}

/**
 * The exported types of a module of the interface, written out with what their schemas say of each field: they are made of schemas,
 * and a user of the client should need no schema library to read them. What is exported as a value is left out.
 */
export function flatTypes({ program, path, source, modules, names }: FlatTypesParts): string {
  const checker = program.getTypeChecker()
  const imported = new Map<string, string>()
  const lines = exportsOf(checker, source).flatMap((symbol) => {
    const declared = aliasOf(symbol) ?? aliasOf(original(checker, symbol))
    if (declared === undefined || isGeneric(declared)) return []
    const type = checker.getTypeAtLocation(declared)
    const value = modules.get(path)?.[symbol.name]
    const schema = value instanceof z.ZodType ? value : undefined
    const writer = { checker, at: declared, names, path, imported }
    const isObject = membersOf(checker, type) !== undefined
    const text = write(writer, { type, schema: schema && { root: schema } })
    const said = schema?.description ?? commentOf(checker, symbol)
    const head = isObject ? `interface ${symbol.name} ` : `type ${symbol.name} = `
    return [`${commentText(said, '')}export ${head}${text}`]
  })
  const imports = [...imported].map(
    ([name, from]) => `import type { ${name} } from './${from.replace(/^.*\/|\.ts$/g, '')}.js'`,
  )
  return `${[...imports, ...lines].join('\n')}\nexport {}\n`
}

function exportsOf(checker: ts.TypeChecker, source: ts.SourceFile): ts.Symbol[] {
  const module = checker.getSymbolAtLocation(source)
  return module === undefined ? [] : checker.getExportsOfModule(module)
}

const original = (checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol =>
  (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol)

const aliasOf = (symbol: ts.Symbol): ts.Declaration | undefined =>
  symbol.declarations?.find(
    (each) => ts.isTypeAliasDeclaration(each) || ts.isInterfaceDeclaration(each),
  )

const isGeneric = (declared: ts.Declaration): boolean =>
  (declared as ts.TypeAliasDeclaration).typeParameters !== undefined

const { TypeFlags } = ts
const PLAIN =
  TypeFlags.StringLike |
  TypeFlags.NumberLike |
  TypeFlags.BooleanLike |
  TypeFlags.Unknown |
  TypeFlags.Any |
  TypeFlags.Undefined |
  TypeFlags.Null |
  TypeFlags.Never |
  TypeFlags.TemplateLiteral
/** What stands beside the type of a value that may be absent. */
const ABSENT = TypeFlags.Undefined | TypeFlags.Null

interface TypeWriter {
  readonly checker: ts.TypeChecker
  readonly at: ts.Node
  readonly names: NamedSchemas
  readonly path: string
  /** Names that are used from other modules, with the path of these; the first of a name. */
  readonly imported: Map<string, string>
}

/** A type and its schema, as far as it is known; `root` is one that is not written by its own name. */
interface Written {
  readonly type: ts.Type
  readonly schema: z.ZodType | { readonly root: z.ZodType } | undefined
  /** Blanks before the lines of an object. */
  readonly indent?: string
}

/** A type of plain JSON as text, without any name but those of the language and of the interface. */
function write(writer: TypeWriter, { type, schema: given, indent = '' }: Written): string {
  const { checker } = writer
  const isRoot = given !== undefined && 'root' in given
  const schema = given === undefined ? undefined : unwrapped(isRoot ? given.root : given)
  const name = isRoot ? undefined : nameOf(writer, schema)
  const inner = (each: ts.Type, of?: z.ZodType): string =>
    write(writer, { type: each, schema: of, indent })
  if (type.isUnion()) {
    const beside = type.types.filter(({ flags }) => (flags & ABSENT) !== 0)
    const rest = type.types.filter(({ flags }) => (flags & ABSENT) === 0)
    if (name !== undefined) return [name, ...beside.map((each) => inner(each))].join(' | ')
    // A union of both boolean literals is `boolean`.
    if ((type.flags & TypeFlags.Boolean) !== 0) return 'boolean'
    const [only] = rest
    const of = rest.length === 1 && only !== undefined ? schema : undefined
    return `(${type.types.map((each) => inner(each, each === only ? of : undefined)).join(' | ')})`
  }
  if (name !== undefined) return name
  if ((type.flags & PLAIN) !== 0) {
    return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation)
  }
  if (checker.isTupleType(type)) {
    const items = checker.getTypeArguments(type as ts.TypeReference).map((each) => inner(each))
    return `readonly [${items.join(', ')}]`
  }
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type as ts.TypeReference)
    const of = schema instanceof z.ZodArray ? (schema.element as z.ZodType) : undefined
    return `readonly ${item === undefined ? 'unknown' : inner(item, of)}[]`
  }
  return writeObject(writer, { type, schema, indent })
}

function writeObject(
  writer: TypeWriter,
  { type, schema, indent = '' }: Written & { readonly schema: z.ZodType | undefined },
): string {
  const { checker, at } = writer
  const deeper = `${indent}  `
  const shape = schema instanceof z.ZodObject ? (schema.shape as Record<string, z.ZodType>) : {}
  const members = (membersOf(checker, type) ?? []).map((property) => {
    const of = shape[property.name]
    const optional = (property.flags & ts.SymbolFlags.Optional) === 0 ? '' : '?'
    const written = { type: checker.getTypeOfSymbolAtLocation(property, at), schema: of }
    const said = commentText(descriptionOf(of) ?? commentOf(checker, property), deeper)
    const text = write(writer, { ...written, indent: deeper })
    return `${said}${deeper}readonly ${JSON.stringify(property.name)}${optional}: ${text}`
  })
  const value = schema instanceof z.ZodRecord ? (schema.valueType as z.ZodType) : undefined
  const indices = checker.getIndexInfosOfType(type).map((index) => {
    const key = write(writer, { type: index.keyType, schema: undefined })
    const text = write(writer, { type: index.type, schema: value, indent: deeper })
    return `${deeper}readonly [key: ${key}]: ${text}`
  })
  return `{\n${[...members, ...indices].join('\n')}\n${indent}}`
}

/** The members of an object, undefined of any other type. */
function membersOf(checker: ts.TypeChecker, type: ts.Type): readonly ts.Symbol[] | undefined {
  const isOther = type.isUnion() || (type.flags & PLAIN) !== 0
  if (isOther || checker.isTupleType(type) || checker.isArrayType(type)) return undefined
  return checker.getPropertiesOfType(type)
}

/** The schema without what makes it optional. */
function unwrapped(schema: z.ZodType): z.ZodType {
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  return isWrapper ? unwrapped(schema.unwrap() as z.ZodType) : schema
}

/** How the type of the schema is written from this module; undefined when it has no name. */
function nameOf({ names, path, imported }: TypeWriter, schema?: z.ZodType): string | undefined {
  const named = names.get(schema)
  if (named === undefined || named.path === path) return named?.name
  const from = imported.get(named.name) ?? named.path
  imported.set(named.name, from)
  return from === named.path ? named.name : undefined
}

const descriptionOf = (schema: z.ZodType | undefined): string | undefined =>
  schema && (schema.description ?? unwrapped(schema).description)

const commentOf = (checker: ts.TypeChecker, symbol: ts.Symbol): string | undefined =>
  ts.displayPartsToString(symbol.getDocumentationComment(checker)) || undefined

/** A doc comment before a line; empty without words. */
const commentText = (words: string | undefined, indent: string): string =>
  words === undefined
    ? ''
    : `${indent}/** ${words.replaceAll('*/', '*\u200b/').replaceAll('\n', `\n${indent} * `)} */\n`
