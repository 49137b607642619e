"""Draws maps by QGIS without a screen.

On stdin: JSON, a list of {name, kind: wmts | wms | xyz | vector | features | style | gdal | arcgis, uri, crs, extent, cities, colours, layer, file, token}. `uri` is what QGIS keeps of a layer, and `layer` the name in vector tiles.
ArcGIS REST has the token as the password of a stored authentication: QGIS keeps no query in the addresses of tiles there.
Writes each map into its file, 1024 by 512 pixels, and to stdout one JSON object: {name: {city: [x, y]} or {error}}.
"""

import json
import sys

from qgis.core import (
    QgsApplication,
    QgsAuthMethodConfig,
    QgsCategorizedSymbolRenderer,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsFillSymbol,
    QgsMapRendererSequentialJob,
    QgsMapSettings,
    QgsPointXY,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsRendererCategory,
    QgsVectorLayer,
    QgsVectorTileBasicRenderer,
    QgsVectorTileBasicRendererStyle,
    QgsVectorTileLayer,
    QgsWkbTypes,
)
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor

PROVIDERS = {"wmts": "wms", "wms": "wms", "xyz": "wms", "gdal": "gdal", "arcgis": "arcgismapserver"}


def authentication(token):
    config = QgsAuthMethodConfig()
    config.setName("gateway")
    config.setMethod("Basic")
    config.setConfig("username", "token")
    config.setConfig("password", token)
    manager = QgsApplication.authManager()
    manager.setMasterPassword("of this run", True)
    manager.storeAuthenticationConfig(config)
    return config.id()


def filled(colour):
    return QgsFillSymbol.createSimple({"color": colour, "outline_style": "no"})


def layer_of(spec):
    if spec["kind"] == "style":
        layer = QgsVectorTileLayer(spec["uri"], spec["name"])
        layer.loadDefaultStyle()
        return layer
    if spec["kind"] == "features":
        layer = QgsVectorLayer(spec["uri"], spec["name"], "OAPIF")
        categories = [
            QgsRendererCategory(city, filled(colour), city) for city, colour in spec["colours"].items()
        ]
        layer.setRenderer(QgsCategorizedSymbolRenderer("name", categories))
        return layer
    if spec["kind"] != "vector":
        login = f" authcfg={authentication(spec['token'])}" if spec["kind"] == "arcgis" else ""
        return QgsRasterLayer(spec["uri"] + login, spec["name"], PROVIDERS[spec["kind"]])
    layer = QgsVectorTileLayer(spec["uri"], spec["name"])
    styles = []
    for city, colour in spec["colours"].items():
        style = QgsVectorTileBasicRendererStyle(city, spec["layer"], QgsWkbTypes.PolygonGeometry)
        style.setFilterExpression(f"\"name\" = '{city}'")
        style.setSymbol(filled(colour))
        styles.append(style)
    renderer = QgsVectorTileBasicRenderer()
    renderer.setStyles(styles)
    layer.setRenderer(renderer)
    return layer


def draw(spec):
    layer = layer_of(spec)
    if not layer.isValid():
        return {"error": layer.error().message() or "QGIS does not take the layer"}
    crs = QgsCoordinateReferenceSystem(spec["crs"])
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setDestinationCrs(crs)
    settings.setOutputSize(QSize(1024, 512))
    settings.setExtent(QgsRectangle(*spec["extent"]))
    settings.setBackgroundColor(QColor("white"))
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    job.renderedImage().save(spec["file"])
    to_map = QgsCoordinateTransform(QgsCoordinateReferenceSystem("EPSG:4326"), crs, QgsProject.instance())
    places = {}
    for city, place in spec["cities"].items():
        point = settings.mapToPixel().transform(to_map.transform(QgsPointXY(place["lon"], place["lat"])))
        places[city] = [point.x(), point.y()]
    return places


application = QgsApplication([], True)
application.initQgis()
print(json.dumps({spec["name"]: draw(spec) for spec in json.load(sys.stdin)}))
application.exitQgis()
