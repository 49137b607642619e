import {
  GEOJSON_GEOMETRIES,
  type GeometryType,
  type VectorFacts,
  type VectorField,
  type VectorFieldType,
} from '@gateway/contracts/vector.js'
import { TokenType } from '@streamparser/json'
import { boundsInWgs84, crsOfName, WGS84 } from './crs.js'
import { geometryTypeOf } from './layers.js'
import { MAX_DEPTH, MAX_FIELDS, MAX_NAME } from './limits.js'

/** The meaning of an object or array of the file. */
type Role =
  | 'root'
  | 'features'
  | 'feature'
  | 'geometry'
  | 'geometries'
  | 'part'
  | 'coordinates'
  | 'properties'
  | 'crs'
  | 'crs properties'
  | 'other'

/** Roles by the role of the parent and the key; array elements have no key. */
const ROLES: Readonly<Partial<Record<Role, Readonly<Record<string, Role>>>>> = {
  root: {
    features: 'features',
    geometry: 'geometry',
    properties: 'properties',
    coordinates: 'coordinates',
    geometries: 'geometries',
    crs: 'crs',
  },
  features: { '': 'feature' },
  feature: { geometry: 'geometry', properties: 'properties' },
  geometry: { coordinates: 'coordinates', geometries: 'geometries' },
  geometries: { '': 'part' },
  part: { coordinates: 'coordinates', geometries: 'geometries' },
  coordinates: { '': 'coordinates' },
  crs: { properties: 'crs properties' },
}

interface Level {
  readonly role: Role
  readonly isArray: boolean
  /** key of the current member; always '' in an array */
  key: string
  expectsKey: boolean
  /** index of the current value */
  index: number
}

/** Placeholder for the value of a member that is an object or array. */
const NESTED = {}

/** Collects the facts of a GeoJSON text from its tokens. `take` never throws: unreadable content makes the result incomplete. */
export class GeojsonReader {
  readonly #levels: Level[] = []
  readonly #types = new Set<GeometryType>()
  readonly #fields = new Map<string, VectorFieldType | null>()
  readonly #box: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity]
  #rootType = ''
  #crsName: string | null = null
  #hasCrs = false
  #features = 0
  #hasTooManyFields = false
  #state: 'reading' | 'complete' | 'refused' = 'reading'
  #documents = 0
  readonly #isSequence: boolean
  #hasMore = false

  /** @param isSequence true if further documents may follow the first one */
  constructor(isSequence = false) {
    this.#isSequence = isSequence
  }

  /** True if the outermost object has ended, and nothing in it was refused. */
  get isComplete(): boolean {
    return this.#state === 'complete'
  }

  /** True if another object follows a feature or a geometry, although the file is not read as a sequence. */
  get isMisnamedSequence(): boolean {
    return this.#hasMore && this.#rootType !== 'FeatureCollection'
  }

  take(token: TokenType, value: unknown): void {
    if (this.#state === 'complete' && token === TokenType.LEFT_BRACE) {
      this.#hasMore = !this.#isSequence
      if (this.#isSequence) this.#state = 'reading'
    }
    if (this.#state !== 'reading') return
    const level = this.#levels.at(-1)
    switch (token) {
      case TokenType.LEFT_BRACE:
      case TokenType.LEFT_BRACKET:
        this.#value(level, NESTED)
        this.#open(level, token === TokenType.LEFT_BRACKET)
        return
      case TokenType.RIGHT_BRACE:
      case TokenType.RIGHT_BRACKET:
        this.#close(token === TokenType.RIGHT_BRACKET)
        return
      case TokenType.COLON:
        return
      case TokenType.COMMA:
        if (level === undefined) return
        level.index += 1
        level.expectsKey = !level.isArray
        return
      default:
        if (level?.expectsKey === true) {
          level.key = typeof value === 'string' ? value : ''
          level.expectsKey = false
        } else this.#value(level, value)
    }
  }

  facts(): Omit<VectorFacts, 'encoding' | 'encoding_source'> {
    const isCollection = this.#rootType === 'FeatureCollection'
    const isFeature = this.#rootType === 'Feature'
    if (!isCollection && !isFeature) this.#takeType(this.#rootType)
    const crs = this.#crs()
    const bounds = crs === null ? null : boundsInWgs84(crs, this.#box)
    // Coordinates outside of degrees, in a file without `crs`, belong to another system.
    const isSomethingElse = !this.#hasCrs && bounds === null && this.#box[0] !== Infinity
    return {
      crs: isSomethingElse ? null : (crs?.name ?? null),
      bounds,
      geometry_type: geometryTypeOf(this.#types),
      feature_count: isCollection ? this.#features : this.#documents,
      fields: this.#hasTooManyFields ? null : [...this.#fields].map(toField),
    }
  }

  /** RFC 7946 allows only WGS 84. Before it, a member `crs` named other systems, and null meant unknown. */
  #crs() {
    if (!this.#hasCrs) return WGS84
    return this.#crsName === null ? null : crsOfName(this.#crsName)
  }

  #open(outer: Level | undefined, isArray: boolean): void {
    if (this.#levels.length >= MAX_DEPTH || (outer === undefined && isArray)) {
      this.#state = 'refused'
      return
    }
    const roles: Readonly<Record<string, Role>> = outer === undefined ? {} : (ROLES[outer.role] ?? {})
    const inner = outer === undefined ? 'root' : Object.hasOwn(roles, outer.key) ? (roles[outer.key] as Role) : 'other'
    if (inner === 'feature') this.#features += 1
    this.#levels.push({ role: inner, isArray, key: '', expectsKey: !isArray, index: 0 })
  }

  #close(isArray: boolean): void {
    if (this.#levels.pop()?.isArray !== isArray) this.#state = 'refused'
    else if (this.#levels.length === 0) {
      this.#state = 'complete'
      this.#documents += 1
    }
  }

  #value(level: Level | undefined, value: unknown): void {
    switch (level?.role) {
      case 'coordinates':
        if (typeof value === 'number' && level.index < 2) this.#coordinate(level.index as 0 | 1, value)
        return
      case 'properties':
        this.#property(level.key, value)
        return
      case 'root':
        if (level.key === 'type' && typeof value === 'string') this.#rootType = value
        if (level.key === 'crs') this.#hasCrs = true
        return
      case 'geometry':
        if (level.key === 'type') this.#takeType(value)
        return
      case 'crs properties':
        if (level.key === 'name' && typeof value === 'string') this.#crsName = value
    }
  }

  #takeType(type: unknown): void {
    if (GEOJSON_GEOMETRIES.has(type as string)) this.#types.add(type as GeometryType)
  }

  #coordinate(axis: 0 | 1, value: number): void {
    if (value < this.#box[axis]) this.#box[axis] = value
    const upper = (axis + 2) as 2 | 3
    if (value > this.#box[upper]) this.#box[upper] = value
  }
  #property(key: string, value: unknown): void {
    const name = key.slice(0, MAX_NAME)
    const known = this.#fields.get(name)
    if (known === undefined && this.#fields.size === MAX_FIELDS) {
      this.#hasTooManyFields = true
      return
    }
    const type = fieldTypeOf(value)
    if (known === undefined || known === null) this.#fields.set(name, type)
    else if (type !== null && type !== known) this.#fields.set(name, 'json')
  }
}

/** Returns null if the value does not determine a type. */
function fieldTypeOf(value: unknown): VectorFieldType | null {
  if (value === null) return null
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'json'
}

function toField([name, type]: [string, VectorFieldType | null]): VectorField {
  return { name, type: type ?? 'json' }
}
