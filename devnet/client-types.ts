import ts from 'typescript'

/**
 * The exported types of a module of the interface, written out: they are made of schemas, and a user of the client should
 * need no schema library to read them. What is exported as a value is left out.
 */
export function flatTypes(program: ts.Program, source: ts.SourceFile): string {
  const checker = program.getTypeChecker()
  const module = checker.getSymbolAtLocation(source)
  if (module === undefined) return 'export {}\n'
  const lines = checker.getExportsOfModule(module).flatMap((symbol) => {
    const declared = aliasOf(symbol) ?? aliasOf(original(checker, symbol))
    if (declared === undefined || isGeneric(declared)) return []
    const type = checker.getTypeAtLocation(declared)
    return [`export type ${symbol.name} = ${write(checker, type, declared)}`]
  })
  return `${lines.join('\n')}\nexport {}\n`
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

/** A type of plain JSON as text, without any name but those of the language. */
function write(checker: ts.TypeChecker, type: ts.Type, at: ts.Node): string {
  const inner = (each: ts.Type): string => write(checker, each, at)
  if (type.isUnion()) {
    // A union of both boolean literals is `boolean`.
    if ((type.flags & TypeFlags.Boolean) !== 0) return 'boolean'
    return `(${type.types.map(inner).join(' | ')})`
  }
  if ((type.flags & PLAIN) !== 0) {
    return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation)
  }
  if (checker.isTupleType(type)) {
    return `readonly [${checker
      .getTypeArguments(type as ts.TypeReference)
      .map(inner)
      .join(', ')}]`
  }
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type as ts.TypeReference)
    return `readonly ${item === undefined ? 'unknown' : inner(item)}[]`
  }
  const members = checker.getPropertiesOfType(type).map((property) => {
    const optional = (property.flags & ts.SymbolFlags.Optional) === 0 ? '' : '?'
    const name = JSON.stringify(property.name)
    return `readonly ${name}${optional}: ${inner(checker.getTypeOfSymbolAtLocation(property, at))}`
  })
  const indices = checker
    .getIndexInfosOfType(type)
    .map(({ keyType, type: value }) => `readonly [key: ${inner(keyType)}]: ${inner(value)}`)
  return `{ ${[...members, ...indices].join('; ')} }`
}
