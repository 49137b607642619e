/** The texts of this page, in the language that was chosen in the console, or else that of the browser. */
const EN = {
  how: 'The address of a map is /map/#code=CODE&token=TOKEN: the code of a basemap, and a token that may read it. vector=CODE shows a vector, and a token without codes lists what it may read.',
  layers: 'Layers',
  search: 'Search',
  basemaps: 'Basemaps',
  vectors: 'Vectors',
  none: 'none',
  nothing: 'This token may read neither basemaps nor vectors.',
  choose: 'Choose a basemap or vectors from the list of layers.',
  some: (shown, of) => `${shown} of ${of}; search for the others`,
  notShown: (code, why) => `The map of ${code} cannot be shown: ${why}`,
  otherGrid: (code, crs) =>
    `This page draws only Web Mercator, and the tiles of ${code} lie in ${crs}; WMTS clients draw them.`,
  noLayers: (code) =>
    `The metadata of ${code} names no vector layers (vector_layers), so this page cannot draw its tiles.`,
}

const ZH = {
  how: '地图的地址是 /map/#code=CODE&token=TOKEN：底图的代码，以及可以读取它的令牌。vector=CODE 显示矢量；只给令牌时列出它可以读取的内容。',
  layers: '图层',
  search: '搜索',
  basemaps: '底图',
  vectors: '矢量',
  none: '无',
  nothing: '这个令牌不能读取任何底图或矢量。',
  choose: '请从图层列表中选择底图或矢量。',
  some: (shown, of) => `共 ${of} 个，显示 ${shown} 个；其余请搜索`,
  notShown: (code, why) => `无法显示 ${code} 的地图：${why}`,
  otherGrid: (code, crs) => `本页只绘制 Web 墨卡托，而 ${code} 的瓦片采用 ${crs}；请使用 WMTS 客户端。`,
  noLayers: (code) => `${code} 的元数据没有列出矢量图层（vector_layers），本页无法绘制它的瓦片。`,
}

/** Returns a choice of the console, which is on the same origin; null in a frame that may not read it. */
function chosen(name) {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

const scheme = chosen('mantine-color-scheme-value')
if (scheme === 'light' || scheme === 'dark') document.documentElement.style.colorScheme = scheme

const isChinese = (chosen('console.language') ?? navigator.language).startsWith('zh')
export const t = isChinese ? ZH : EN
document.documentElement.lang = isChinese ? 'zh-CN' : 'en'
