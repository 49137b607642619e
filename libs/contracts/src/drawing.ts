/** The message to the renderer: draw this style at this view in this size. */
export interface DrawTask {
  /** style in the form of MapLibre GL JS; its addresses at the gateway begin with one of `bases` */
  readonly style: string
  /** changes with everything that the style draws: the renderer keeps the style of the last picture loaded */
  readonly revision: string
  readonly view: DrawnView
  /** size of the picture in points, each of `ratio` pixels in both directions */
  readonly width: number
  readonly height: number
  readonly ratio: 1 | 2
  /** points that are drawn around the picture and cut off, so that labels at its edge are placed as if the map went on */
  readonly margin: number
  readonly overlay: DrawnOverlay
  /** rows and columns of equal pieces that the picture is cut into */
  readonly pieces: number
  readonly format: PictureFormat
  readonly loading: DrawLoading
  readonly browser: DrawBrowser
}

/** The camera of MapLibre, in degrees. At zoom 0 the world has a width of 512 points. */
export interface DrawnView {
  readonly center: readonly [longitude: number, latitude: number]
  readonly zoom: number
  readonly bearing: number
  readonly pitch: number
}

export interface DrawnMarker {
  readonly at: readonly [longitude: number, latitude: number]
  /** colour in the form of CSS, checked by the caller */
  readonly colour: string
  readonly label: string
}

export interface DrawnOverlay {
  readonly markers: readonly DrawnMarker[]
  readonly paths: readonly (readonly (readonly [longitude: number, latitude: number])[])[]
  /** true: the attribution of the sources is written into the lower right corner */
  readonly attribution: boolean
}

export const PICTURE_FORMATS = ['png', 'webp', 'jpg'] as const
export type PictureFormat = (typeof PICTURE_FORMATS)[number]

/** The places from which a picture may load its sources. */
export interface DrawLoading {
  /** address of the edge for processes of this host */
  readonly gateway: string
  /** addresses at which the style names the edge */
  readonly bases: readonly string[]
  /** query that opens the style's parts and nothing else, for some minutes */
  readonly credential: string
  /** other hosts that may be asked */
  readonly hosts: readonly string[]
}

export interface DrawBrowser {
  /** absolute path of Chromium */
  readonly program: string
}

/** `pieces` by rows from the north, each from the west. */
export type DrawAnswer =
  | { readonly ok: true; readonly pieces: readonly Uint8Array[] }
  /** `isOfStyle`: another picture of the style would fail too */
  | { readonly ok: false; readonly reason: string; readonly isOfStyle: boolean }

/** The reason of a failure if the browser ended by itself, or somebody else killed it. */
export const BROWSER_ENDED = 'the browser has ended'

/** Latitude to which Web Mercator reaches, in degrees. */
export const MOST_LATITUDE = 85.051129
/** Deepest zoom of a view. */
export const MOST_ZOOM = 22
