import type { DefaultTheme } from 'vitepress'

const page = (text: string, link: string) => ({ text, link })
/** Without `collapsed`, because a collapsible group nests one button in another, which a screen reader cannot present. */
const part = (text: string, items: DefaultTheme.SidebarItem[]) => ({ text, items })

/** Groups are named after readers' tasks. */
export const sidebar: Record<'en' | 'zh', DefaultTheme.SidebarItem[]> = {
  en: [
    part('Start', [
      page('A first map in five minutes', '/start/first-map'),
      page('Your own data in ten', '/start/own-data'),
      page('A token for a colleague', '/start/token'),
      page('Slice an image', '/start/slice'),
      page('Push to another system', '/start/push'),
    ]),
    part('Draw maps', [
      page('QGIS', '/howto/qgis'),
      page('ArcGIS', '/howto/arcgis'),
      page('Tianditu', '/howto/tianditu'),
      page('MapLibre', '/howto/maplibre'),
      page('OpenLayers', '/howto/openlayers'),
      page('Leaflet', '/howto/leaflet'),
      page('Cesium', '/howto/cesium'),
      page('GDAL', '/howto/gdal'),
      page('Vectors as features', '/howto/features'),
      page('Mobile', '/howto/mobile'),
      page('Maputnik', '/howto/maputnik'),
      page('Clients and the formats they read', '/clients'),
      page('Find the cause by the symptom', '/troubleshooting'),
    ]),
    part('Prepare and publish data', [
      page('Prepare tiles with GDAL', '/prepare'),
      page('Layout of a scan source', '/reference/sources'),
      page('Styles, glyphs and sprites', '/reference/styles'),
      page('Slicing', '/reference/slicing'),
      page('Publish and roll back', '/publish'),
      page('Automation', '/automation'),
      page('Deliveries', '/reference/deliveries'),
    ]),
    part('Move from another server', [
      page('GeoServer', '/moving/geoserver'),
      page('TileServer GL', '/moving/tileserver-gl'),
      page('MapProxy', '/moving/mapproxy'),
      page('ArcGIS Server', '/moving/arcgis-server'),
      page('Compared with others', '/compare'),
    ]),
    part('Install and upgrade', [
      page('Install', '/install'),
      page('Without internet access', '/air-gapped'),
      page('The offline kit', '/offline-kit'),
      page('TLS, proxies and balancers', '/proxies'),
      page('Scale out', '/scale-out'),
      page('Sizing', '/sizing'),
      page('Platforms and requirements', '/support'),
      page('Upgrade notes', '/upgrades'),
      page('Release 0.2.0', '/releases/0.2.0'),
    ]),
    part('Operate', [
      page('When something is wrong', '/operate'),
      page('Failures and automatic recovery', '/failures'),
      page('Administration', '/reference/administration'),
      page('Several operators', '/operators'),
      page('Metrics, logs, traces', '/observing'),
      page('Caches in front', '/caches'),
      page('Tuning', '/tuning'),
    ]),
    part('Understand', [
      page('Concepts', '/concepts'),
      page('Glossary', '/glossary'),
      page('Security model', '/security'),
      page('Architecture', '/architecture'),
    ]),
    part('Reference', [
      page('Settings', '/reference/settings'),
      page('Addresses', '/reference/addresses'),
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
    part('绘制地图', [
      page('QGIS', '/zh/howto/qgis'),
      page('ArcGIS', '/zh/howto/arcgis'),
      page('MapLibre', '/zh/howto/maplibre'),
      page('OpenLayers', '/zh/howto/openlayers'),
      page('GDAL', '/zh/howto/gdal'),
      page('矢量作为要素', '/zh/howto/features'),
    ]),
    part('准备数据', [page('数据源的目录结构', '/zh/reference/sources'), page('切片', '/zh/reference/slicing')]),
    part('安装与运维', [page('安装', '/zh/install'), page('故障处理', '/zh/operate')]),
    part('参考', [page('错误', '/zh/reference/errors'), page('术语表', '/glossary')]),
    part('更多（英文）', [
      page('发布与回滚', '/publish'),
      page('用 GDAL 准备瓦片', '/prepare'),
      page('地图用户排错', '/troubleshooting'),
      page('离线安装', '/air-gapped'),
      page('离线安装包', '/offline-kit'),
      page('升级说明', '/upgrades'),
      page('版本 0.2.0', '/releases/0.2.0'),
      page('性能调优', '/tuning'),
      page('设置', '/reference/settings'),
      page('概念', '/concepts'),
      page('安全模型', '/security'),
    ]),
  ],
}
