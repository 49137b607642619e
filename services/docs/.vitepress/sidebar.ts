import type { DefaultTheme } from 'vitepress'

const page = (text: string, link: string) => ({ text, link })
/** Without `collapsed`: a group that opens and closes nests one button in another, which a screen reader cannot tell. */
const part = (text: string, items: DefaultTheme.SidebarItem[]) => ({ text, items })

export const sidebar: Record<'en' | 'zh', DefaultTheme.SidebarItem[]> = {
  en: [
    part('Start', [
      page('A first map in five minutes', '/start/first-map'),
      page('Your own data in ten', '/start/own-data'),
      page('A token for a colleague', '/start/token'),
      page('Slice an image', '/start/slice'),
      page('Push to another system', '/start/push'),
    ]),
    part('Map clients', [
      page('QGIS', '/howto/qgis'),
      page('ArcGIS', '/howto/arcgis'),
      page('MapLibre', '/howto/maplibre'),
      page('OpenLayers', '/howto/openlayers'),
      page('Leaflet', '/howto/leaflet'),
      page('Cesium', '/howto/cesium'),
      page('GDAL', '/howto/gdal'),
      page('Mobile', '/howto/mobile'),
      page('What each client reads', '/clients'),
    ]),
    part('Operate', [
      page('Install', '/install'),
      page('TLS, proxies and balancers', '/proxies'),
      page('Scale out', '/scale-out'),
      page('Caches in front', '/caches'),
      page('Metrics, logs, traces', '/observing'),
      page('Several operators', '/operators'),
      page('How large', '/sizing'),
      page('What it runs on', '/support'),
      page('Failures: what it does by itself', '/failures'),
      page('When something is wrong', '/operate'),
    ]),
    part('Understand', [
      page('Concepts', '/concepts'),
      page('Security model', '/security'),
      page('Architecture', '/architecture'),
      page('Compared with others', '/compare'),
    ]),
    part('Reference', [
      page('Settings', '/reference/settings'),
      page('What lies where in a source', '/reference/sources'),
      page('Addresses', '/reference/addresses'),
      page('Administration', '/reference/administration'),
      page('Slicing', '/reference/slicing'),
      page('Deliveries', '/reference/deliveries'),
      page('Errors', '/reference/errors'),
      page('HTTP interface', '/reference/api'),
    ]),
  ],
  zh: [
    part('入门', [
      page('五分钟看到第一张地图', '/zh/start/first-map'),
      page('十分钟接入自己的数据', '/zh/start/own-data'),
      page('给同事发一个令牌', '/zh/start/token'),
      page('切片一幅影像', '/zh/start/slice'),
      page('推送到另一个系统', '/zh/start/push'),
    ]),
    part('更多（英文）', [
      page('概念', '/concepts'),
      page('设置', '/reference/settings'),
      page('安装与运维', '/install'),
      page('安全模型', '/security'),
      page('故障处理', '/operate'),
    ]),
  ],
}
