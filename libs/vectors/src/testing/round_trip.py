"""Writes random vectors with GDAL and Python's own writers, and compares what was made of them with what was written.

    round_trip.py write FOLDER FIRST COUNT   writes FOLDER/SEED-FORMAT/source.* and truth.json, and lists them as JSON on the standard output
    round_trip.py check FOLDER               compares the files items.geojson, made.gpkg, made.fgb and made.csv in every folder, and prints each difference
"""
import csv
import io
import json
import math
import os
import random
import re
import sqlite3
import sys
import zipfile
from datetime import datetime

from osgeo import gdal, ogr, osr

gdal.UseExceptions()
ogr.UseExceptions()
csv.field_size_limit(1 << 26)
KEY = 'uid'
PLAIN = re.compile(r'-?(?:0|[1-9]\d{0,14})(?:\.\d+)?')

# Names that programs use themselves, that differ only by case or behind 63 bytes, and with signs that must be quoted.
NAMES = ['fid', 'geom', 'OGC_FID', 'ogc_fid', 'FID', 'id', 'ID', 'layer', 'Layer', 'rowid', 'oid', 'type', 'Type', 'TYPE', 'name', 'NAME', '名称', 'имя',
         'ИМЯ', 'Straße', 'geometry', 'Geometry', 'the_geom', 'feature_id', 'text', 'x' * 70, 'x' * 69 + 'y', '长' * 30, '长' * 29 + '短', 'a "b"', "it's",
         'a,b', 'a;b', 'a b', 'a.b', 'a:b', '1st', 'select', '%s', 'a/b', 'properties', 'bbox', 'crs', '__proto__', 'constructor', 'toString', '_fid', 'a_2',
         'a', 'A', 'fid_2', 'type_2', 'WKT', '🗺', 'é', 'é'.upper(), 'a\\b', '$ref', '@id', '-', '=1+1']
TEXTS = ['01569', '007', '1e5', '0x1F', '2:3', '1:500', '2020/01/02', '10:30:00', '2020-01', '2020-13-01', '1.0', '1.50', '-0', '+8613800000001', 'null', 'true',
         'NaN', 'Infinity', '', ' ', ' both ', 'a,b', 'say "x"', "it's", 'two\nlines', 'tab\tbed', '北京 Beijing', 'Санкт', 'Straße', '{"a":1}', '[1]', '"x"', '\\',
         '=1+1', '9223372036854775808', '123456789012345678901', 'x' * 300, '🗺️', '2024-02-30', 'e\u0301']
KINDS = ['Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon', 'GeometryCollection']
INTS = [0, 1, -1, 2**31, -2**31 - 1, 2**53, 2**53 + 1, -2**53 - 1, 2**63 - 1, -2**63, 10**15, 10**18]
FLOATS = [0.1, -0.5, 1 / 3, 1e-7, 1e21, -1.5e300, 5e-324, 1e-17, 123456789.123456789, 2.0**60]
NESTED = [[], {}, [1, 'a', None, True], {'a': {'b': [1.5]}}, ['x'], {'N': 2**63 - 1}, {'é "': '\n'}, [[1], [2]]]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def position(self, z):
        r = self.r
        at = [round(r.uniform(-170, 170), r.choice([0, 3, 9])), round(r.uniform(-80, 80), r.choice([0, 3, 9]))]
        return at + [round(r.uniform(-100, 9000), 2)] if z else at

    def ring(self, z, x, y, size, clockwise):
        n = self.r.randint(3, 9)
        at = [[round(x + size * math.cos(2 * math.pi * i / n), 9), round(y + size * math.sin(2 * math.pi * i / n), 9)] for i in range(n)]
        if z:
            at = [p + [round(self.r.uniform(0, 100), 2)] for p in at]
        if clockwise:
            at.reverse()
        return at + [at[0]]

    def polygon(self, z):
        r = self.r
        x, y = round(r.uniform(-150, 150), 3), round(r.uniform(-70, 70), 3)
        turn = r.random() < 0.5
        rings = [self.ring(z, x, y, 5, turn)]
        if r.random() < 0.3:
            rings.append(self.ring(z, x, y, 1, not turn))
        return rings

    def line(self, z):
        return [self.position(z) for _ in range(self.r.randint(2, 5))]

    def geometry(self, kind, z, depth=0):
        r = self.r
        if kind == 'GeometryCollection':
            kinds = KINDS if depth < 1 else KINDS[:6]
            return {'type': kind, 'geometries': [self.geometry(r.choice(kinds), z, depth + 1) for _ in range(r.randint(1, 3))]}
        one = {'Point': self.position, 'LineString': self.line, 'Polygon': self.polygon}
        if kind in one:
            return {'type': kind, 'coordinates': one[kind](z)}
        return {'type': kind, 'coordinates': [one[kind[5:]](z) for _ in range(r.randint(1, 3))]}

    def value(self, kind):
        r = self.r
        if r.random() < 0.15:
            return None
        if kind == 'integer':
            return r.choice(INTS) if r.random() < 0.4 else r.randint(-1000, 1000)
        if kind == 'number':
            return r.choice(FLOATS) if r.random() < 0.4 else r.uniform(-1e6, 1e6)
        if kind == 'string':
            return r.choice(TEXTS)
        if kind == 'boolean':
            return r.random() < 0.5
        if kind == 'date':
            return '%04d-%02d-%02d' % (r.randint(1600, 2200), r.randint(1, 12), r.randint(1, 28))
        if kind == 'datetime':
            return self.value_date() + 'T%02d:%02d:%02d' % (r.randint(0, 23), r.randint(0, 59), r.randint(0, 59)) + r.choice(['', '.5', '.125']) + 'Z'
        if kind == 'json':
            return r.choice(NESTED)
        return self.value(r.choice(['integer', 'number', 'string', 'boolean', 'json', 'date']))

    def value_date(self):
        r = self.r
        return '%04d-%02d-%02d' % (r.randint(1970, 2037), r.randint(1, 12), r.randint(1, 28))

    def layer(self, name, kinds, names=NAMES, nested=True, texts=None, ids=False, case=True, key=None):
        r = self.r
        fields, taken = [(KEY, 'integer')], {KEY}
        for field in r.sample(names, min(len(names), r.randint(0, 9))):
            if (field if case else field.lower()) in taken:
                continue
            taken.add(field if case else field.lower())
            fields.append((field, r.choice(kinds)))
        shapes = r.choice([[r.choice(KINDS)], KINDS, ['Polygon', 'MultiPolygon'], ['Point', 'LineString']])
        z = r.choice([False, True])
        nothing = r.choice([0, 0, 0.2, 1 if r.random() < 0.2 else 0])
        features = []
        for i in range(r.choice([0, 1, 2, 5, 30])):
            props = {field: self.value(kind) for field, kind in fields}
            if texts is not None:
                props = {k: (r.choice(texts) if isinstance(v, str) and dict(fields)[k] in ('string', 'mixed') else v) for k, v in props.items()}
            props[KEY] = (key or 0) + i
            if case and r.random() < 0.2 and len(props) > 1:
                props.pop(r.choice(list(props)[1:]))
            features.append({'props': props, 'geometry': None if r.random() < nothing else self.geometry(r.choice(shapes), z)})
        if ids:
            how = r.choice(['none', 'whole', 'texts', 'mixed', 'repeated', 'some', 'large'])
            for i, f in enumerate(features):
                given = {'whole': i * 7 + 3, 'texts': r.choice(['n', 'w/', '河 ', '0']) + str(i), 'mixed': r.choice([i, str(i), i + 0.5, -i]),
                         'repeated': i // 2, 'some': i if i % 2 else None, 'large': 2**63 - 1 - i}.get(how)
                if given is not None:
                    f['id'] = given
        return {'name': name, 'fields': fields, 'shapes': shapes, 'z': z, 'features': features}


ALL = ['integer', 'number', 'string', 'boolean', 'date', 'datetime', 'json', 'mixed']
TYPED = ['integer', 'number', 'string', 'boolean', 'date', 'datetime']


def geojson_feature(f):
    one = {'type': 'Feature', 'properties': f['props'], 'geometry': f['geometry']}
    if 'id' in f:
        one['id'] = f['id']
    return json.dumps(one, ensure_ascii=False)


def fits(text, encoding):
    try:
        text.encode(encoding)
        return True
    except UnicodeEncodeError:
        return False


def write_geojson(m, folder):
    encoding = m.r.choice(['utf-8', 'utf-8', 'gbk'])
    names = [n for n in NAMES if fits(n, encoding)]
    texts = [t for t in TEXTS if fits(t, encoding)]
    layer = m.layer('source', ALL, names, texts=texts, ids=True)
    features = [geojson_feature(f) for f in layer['features']]
    if encoding == 'gbk':
        features.append(geojson_feature({'props': {KEY: 10**6, 'name': '北京市人民政府，上海'}, 'geometry': None}))
        layer['features'].append(json.loads(features[-1]) | {'props': {KEY: 10**6, 'name': '北京市人民政府，上海'}})
        layer['fields'] = [one for one in layer['fields'] if one[0] != 'name'] + [('name', 'mixed')]
    text = '{"type":"FeatureCollection","features":[' + ',\n'.join(features) + ']}'
    open(folder + '/source.geojson', 'wb').write((b'\xef\xbb\xbf' if encoding == 'utf-8' and m.r.random() < 0.2 else b'') + text.encode(encoding))
    return 'geojson', 'source.geojson', [layer]


def write_sequence(m, folder):
    layer = m.layer('source', ALL, ids=True)
    mark, end = m.r.choice([('', '\n'), ('\x1e', '\n'), ('', '\r\n')])
    text = ''.join(mark + geojson_feature(f) + end for f in layer['features'])
    open(folder + '/source.geojsonl', 'w', newline='').write(m.r.choice(['', '\ufeff']) + text)
    return 'geojson_sequence', 'source.geojsonl', [layer]


def write_csv(m, folder):
    encoding = m.r.choice(['utf-8', 'utf-8-sig', 'gbk'])
    plain = 'utf-8' if encoding == 'utf-8-sig' else encoding
    reserved = {'wkt', 'geom', 'geometry', 'the_geom'}
    names = [n for n in NAMES if n.lower() not in reserved and fits(n, plain)]
    texts = [t for t in TEXTS if fits(t, plain)]
    layer = m.layer('source', ['integer', 'number', 'string', 'date', 'datetime'], names, texts=texts)
    if encoding == 'gbk':
        layer['fields'].append(('城市', 'string'))
    is_wkt = m.r.random() < 0.5
    out = io.StringIO()
    writer = csv.writer(out, delimiter=m.r.choice([',', ';', '\t', '|']), quoting=m.r.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
                        lineterminator=m.r.choice(['\n', '\r\n']))
    fields = [name for name, _ in layer['fields']]
    writer.writerow(fields + (['wkt'] if is_wkt else ['lon', 'lat']))
    if not layer['features']:
        layer['features'].append({'props': {KEY: 0}, 'geometry': None})
    for i, f in enumerate(layer['features']):
        if encoding == 'gbk':
            f['props']['城市'] = '北京市人民政府'
        if not is_wkt or f['geometry'] is None and i == 0:
            f['geometry'] = {'type': 'Point', 'coordinates': m.position(False)}
        g = f['geometry']
        f['props'] = {k: ('' if v is None else v if isinstance(v, str) else repr(v)) for k, v in f['props'].items()}
        place = f['geometry']['coordinates'] if not is_wkt else None
        at = [wkt_of(g) if g else ''] if is_wkt else [repr(c) for c in place]
        if is_wkt:
            f['props'] |= {'wkt': at[0]}
        else:
            f['props'] |= {'lon': at[0], 'lat': at[1]}
        writer.writerow([f['props'].get(name, '') for name in fields] + at)
    open(folder + '/source.csv', 'wb').write(out.getvalue().encode(encoding))
    layer['fields'] = [(n, 'cell') for n in fields + (['wkt'] if is_wkt else ['lon', 'lat'])]
    return 'csv', 'source.csv', [layer]


def wkt_of(g):
    return ogr.CreateGeometryFromJson(json.dumps(g)).ExportToIsoWkt()


OGR_TYPES = {'integer': (ogr.OFTInteger64, ogr.OFSTNone), 'number': (ogr.OFTReal, ogr.OFSTNone), 'string': (ogr.OFTString, ogr.OFSTNone),
             'boolean': (ogr.OFTInteger, ogr.OFSTBoolean), 'date': (ogr.OFTDate, ogr.OFSTNone), 'datetime': (ogr.OFTDateTime, ogr.OFSTNone),
             'json': (ogr.OFTString, ogr.OFSTJSON)}


def fill(dataset, layer, srs, geometry_type, options=(), keys=None):
    out = dataset.CreateLayer(layer['name'], srs, geometry_type, list(options))
    for name, kind in layer['fields']:
        field = ogr.FieldDefn(name, OGR_TYPES[kind][0])
        field.SetSubType(OGR_TYPES[kind][1])
        out.CreateField(field)
    definition = out.GetLayerDefn()
    assert [definition.GetFieldDefn(i).GetName() for i in range(definition.GetFieldCount())] == [n for n, _ in layer['fields']], [definition.GetFieldDefn(i).GetName() for i in range(definition.GetFieldCount())]
    for f in layer['features']:
        feature = ogr.Feature(definition)
        for i, (name, kind) in enumerate(layer['fields']):
            value = f['props'].get(name)
            if value is None:
                feature.SetFieldNull(i)
            elif kind == 'integer':
                feature.SetFieldInteger64(i, value)
            elif kind == 'boolean':
                feature.SetField(i, 1 if value else 0)
            elif kind == 'json':
                feature.SetField(i, json.dumps(value, ensure_ascii=False))
            else:
                feature.SetField(i, value)
        if keys is not None and 'id' in f:
            feature.SetFID(f['id'])
        if f['geometry'] is not None:
            geometry = ogr.CreateGeometryFromJson(json.dumps(f['geometry']))
            if f.get('to') is not None:
                geometry.Transform(f['to'])
            feature.SetGeometry(geometry)
        out.CreateFeature(feature)


def system(code):
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(code)
    srs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    return srs


def placed(m, layers):
    code = m.r.choice([4326, 4326, 3857, 4490, 4269])
    if code == 3857:
        to = osr.CoordinateTransformation(system(4326), system(3857))
        for layer in layers:
            for f in layer['features']:
                f['to'] = to
    return system(code)


def geometry_type(layer):
    one = layer['shapes'][0] if len(layer['shapes']) == 1 else 'Unknown'
    return getattr(ogr, 'wkb' + one + ('25D' if layer['z'] and one != 'Unknown' else ''))


def write_flatgeobuf(m, folder):
    layer = m.layer('source', ['integer', 'number', 'string', 'boolean', 'datetime'])
    if len(layer['shapes']) > 1 and m.r.random() < 0.7:
        layer['shapes'] = [layer['shapes'][0]]
        for f in layer['features']:
            f['geometry'] = f['geometry'] and m.geometry(layer['shapes'][0], layer['z'])
    index = m.r.choice(['YES', 'NO'])
    if not layer['features']:
        layer['features'].append({'props': {KEY: 0}, 'geometry': m.geometry(layer['shapes'][0], layer['z'])})
    if len(layer['shapes']) > 1:
        # Without a kind, GDAL takes the heights away.
        layer['z'] = False
        for f in layer['features']:
            f['geometry'] = f['geometry'] and m.geometry(m.r.choice(layer['shapes']), False)
        # GDAL 3.6 writes a MultiLineString among other kinds without its ends, which no reader can repair.
        for f in layer['features']:
            if 'Line' in json.dumps(f['geometry']) or 'Coll' in json.dumps(f['geometry']):
                f['geometry'] = m.geometry('Point', layer['z'])
    # GDAL 3.6 leaves out features without a geometry.
    for f in layer['features']:
        if f['geometry'] is None:
            f['geometry'] = m.geometry(layer['shapes'][0] if len(layer['shapes']) == 1 else 'Point', layer['z'])
    dataset = ogr.GetDriverByName('FlatGeobuf').CreateDataSource(folder + '/source.fgb')
    fill(dataset, layer, placed(m, [layer]), geometry_type(layer), ['SPATIAL_INDEX=' + index])
    dataset = None
    return 'flatgeobuf', 'source.fgb', [layer]


def write_geopackage(m, folder):
    reserved = {'__key', '__geom'}
    names = [n for n in NAMES if n.lower() not in reserved]
    layers = [m.layer(name, TYPED + ['json'], names, case=False, key=i * 1000) for i, name in
              enumerate(m.r.sample(['source', '图层', 'a b', 'Straßen', 'it\'s', 'select', 'x.y'], m.r.choice([1, 1, 2, 3])))]
    for layer in layers:
        if m.r.random() < 0.5:
            for i, f in enumerate(layer['features']):
                f['id'] = i * 3 + 1
        else:
            for i, f in enumerate(layer['features']):
                f['id'] = i + 1
    dataset = ogr.GetDriverByName('GPKG').CreateDataSource(folder + '/source.gpkg')
    srs = placed(m, layers)
    for layer in layers:
        fill(dataset, layer, srs, geometry_type(layer), ['FID=__key', 'GEOMETRY_NAME=__geom'], keys=True)
    dataset = None
    return 'geopackage', 'source.gpkg', layers


def write_shapefile(m, folder):
    encoding, python, sample = m.r.choice([('UTF-8', 'utf-8', None), ('GBK', 'gbk', None), ('CP936', 'gbk', None), ('CP1251', 'cp1251', None), ('ISO-8859-1', 'latin-1', None)])
    usable = [n for n in NAMES if fits(n, python) and len(n.encode(python)) <= 10 and ':' not in n]
    texts = [t for t in TEXTS if fits(t, python) and t == t.rstrip() and t != '' and len(t.encode(python)) <= 250]
    layers = []
    for i, name in enumerate(m.r.sample(['source', 'roads', 'Straßen' if python == 'utf-8' else 'b'], m.r.choice([1, 1, 2]))):
        layer = m.layer(name, ['integer', 'number', 'string', 'date'], usable, texts=texts, case=False, key=i * 1000)
        if layer['shapes'][0] in ('Point', 'MultiPoint'):
            shape = layer['shapes'][0]
        else:
            shape = m.r.choice(['Point', 'LineString', 'Polygon', 'MultiPoint'])
        layer['shapes'] = [shape]
        for f in layer['features']:
            f['geometry'] = f['geometry'] and m.geometry(shape if shape in ('Point', 'MultiPoint') or m.r.random() < 0.5 else 'Multi' + shape, layer['z'])
            # GDAL 3.6 writes a hole with heights in the direction of an outer ring, as which it reads it again.
            if layer['z'] and f['geometry'] and 'Polygon' in f['geometry']['type']:
                at = f['geometry']['coordinates']
                f['geometry']['coordinates'] = at[:1] if f['geometry']['type'] == 'Polygon' else [rings[:1] for rings in at]
            for k, v in f['props'].items():
                # dBASE has 20 characters for a whole number, and 24 with 15 decimals for others.
                if isinstance(v, float):
                    f['props'][k] = round(m.r.uniform(-1e5, 1e5), 6)
        layers.append(layer)
    srs = placed(m, layers)
    target = folder + '/shapes'
    os.mkdir(target)
    for layer in layers:
        dataset = ogr.GetDriverByName('ESRI Shapefile').CreateDataSource('%s/%s.shp' % (target, layer['name']))
        shape = layer['shapes'][0]
        fill(dataset, layer, srs, getattr(ogr, 'wkb' + shape + ('25D' if layer['z'] else '')), ['ENCODING=' + encoding])
        dataset = None
    with zipfile.ZipFile(folder + '/source.zip', 'w') as z:
        inner = m.r.choice(['', 'inner/', '数据/'])
        for name in sorted(os.listdir(target)):
            z.write(target + '/' + name, inner + name)
    return 'zipped_shapefile', 'source.zip', layers


WRITERS = {'geojson': write_geojson, 'sequence': write_sequence, 'csv': write_csv, 'flatgeobuf': write_flatgeobuf, 'geopackage': write_geopackage,
           'shapefile': write_shapefile}


def write(folder, first, count, only=None):
    made = []
    for seed in range(first, first + count):
        for name, writer in WRITERS.items():
            if only and name != only:
                continue
            target = '%s/%d-%s' % (folder, seed, name)
            os.makedirs(target)
            kind, path, layers = writer(Maker('%s %d' % (name, seed)), target)
            for layer in layers:
                for f in layer['features']:
                    f.pop('to', None)
            json.dump({'kind': kind, 'path': path, 'layers': layers}, open(target + '/truth.json', 'w'))
            made.append({'folder': target, 'kind': kind, 'path': path})
    print(json.dumps(made))


# --- comparison

def oriented(g):
    """Returns a geometry whose rings run as RFC 7946 says."""
    if g is None:
        return None
    kind = g['type']
    if kind == 'GeometryCollection':
        return {'type': kind, 'geometries': [oriented(one) for one in g['geometries']]}
    turn = lambda rings: [ring if (area(ring) > 0) == (i == 0) else ring[::-1] for i, ring in enumerate(rings)]
    if kind == 'Polygon':
        return {'type': kind, 'coordinates': turn(g['coordinates'])}
    if kind == 'MultiPolygon':
        return {'type': kind, 'coordinates': [turn(one) for one in g['coordinates']]}
    return g


def area(ring):
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:]))


def same_geometry(a, b, source):
    if a is None or b is None:
        return a is None and b is None
    a, b = oriented(a), oriented(b)
    if a['type'] != b['type']:
        # A shapefile knows no single lines and polygons, and a layer of FlatGeobuf may have only one kind.
        if 'Multi' + a['type'] == b['type']:
            return same_geometry({'type': b['type'], 'coordinates': [a['coordinates']]}, b, source)
        if 'Multi' + b['type'] == a['type'] and len(a['coordinates']) == 1:
            return same_geometry(a, {'type': a['type'], 'coordinates': [b['coordinates']]}, source)
        return False
    if a['type'] == 'GeometryCollection':
        return len(a['geometries']) == len(b['geometries']) and all(same_geometry(x, y, source) for x, y in zip(a['geometries'], b['geometries']))
    return close(a['coordinates'], b['coordinates'], source == 'fgb')


def close(a, b, flat):
    if isinstance(a, list) != isinstance(b, list):
        return False
    if isinstance(a, list):
        # In FlatGeobuf all geometries have heights if one has: 0 stands for a missing one.
        if flat and len(a) == 2 and len(b) == 3 and b[2] == 0 and not isinstance(a[0], list):
            b = b[:2]
        return len(a) == len(b) and all(close(x, y, flat) for x, y in zip(a, b))
    return abs(a - b) <= 1e-8


def same_value(truth, found, field_kind):
    if field_kind == 'cell':
        if truth == '' or truth is None:
            return found in (None, '')
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            try:
                return float(truth) == float(found) and (not isinstance(found, int) or '.' in truth or int(truth) == found) and truth.strip() == truth \
                    and not (len(truth.lstrip('-')) > 1 and truth.lstrip('-')[0] == '0' and '.' not in truth) and truth[0] != '+'
            except ValueError:
                return False
        return truth == found or (PLAIN.fullmatch(truth) and PLAIN.fullmatch(found) and float(truth) == float(found))
    if isinstance(truth, bool) or isinstance(found, bool):
        return truth is found
    if isinstance(truth, float) and isinstance(found, (int, float)):
        return truth == float(found)
    if isinstance(truth, int) and isinstance(found, (int, float)):
        return truth == found
    if isinstance(truth, list) and isinstance(found, list):
        return len(truth) == len(found) and all(same_value(a, b, None) for a, b in zip(truth, found))
    if isinstance(truth, dict) and isinstance(found, dict):
        return truth.keys() == found.keys() and all(same_value(truth[k], found[k], None) for k in truth)
    return truth == found


def as_text(found, truth, kind):
    """Reads the text of a form without JSON or types as the value that it stands for."""
    if not isinstance(found, str) or kind == 'cell' or isinstance(truth, str):
        return found
    try:
        return json.loads(found)
    except ValueError:
        return found


def instant(text):
    return datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp()


class Check:
    def __init__(self, folder):
        self.folder = folder
        truth = json.load(open(folder + '/truth.json'))
        self.kind, self.layers = truth['kind'], truth['layers']
        self.said = []

    def say(self, *what):
        self.said.append('%s: %s' % (os.path.basename(self.folder), ' '.join(str(one)[:300] for one in what)))

    def features(self, form, found, texts, name_of=None):
        """found: [(uid, props, geometry)]"""
        wanted = [(layer, f) for layer in self.layers for f in layer['features']]
        by = {}
        for key, props, geometry in found:
            if str(key) in by:
                self.say(form, 'has the feature twice', key)
            by[str(key)] = (props, geometry)
        if len(by) != len(wanted):
            self.say(form, 'has', len(by), 'features instead of', len(wanted))
        for layer, f in wanted:
            one = by.get(str(f['props'][KEY]))
            if one is None:
                self.say(form, 'lacks', f['props'][KEY])
                continue
            props, geometry = one
            for name, kind in layer['fields']:
                value, truth = props.get(name), f['props'].get(name)
                if texts:
                    value = as_text(value, truth, kind)
                    if form == 'fgb' and kind != 'cell' and (kind == 'mixed' or len(self.layers) > 1) and isinstance(value, str) and value.startswith('"') and value != truth:
                        value = json.loads(value)
                if kind in ('datetime', 'cell') and isinstance(value, str) and isinstance(truth, str):
                    try:
                        if instant(value) == instant(truth):
                            continue
                    except ValueError:
                        pass
                if self.kind == 'zipped_shapefile' and truth in ('', None) and value in ('', None):
                    continue
                if form == 'csv' and truth in ('', None) and value in ('', None):
                    continue
                # Whole numbers share a column with the fractions of another layer.
                if form == 'fgb' and len(self.layers) > 1 and isinstance(truth, int) and isinstance(value, float) and value == float(truth):
                    continue
                if not same_value(truth, value, kind):
                    self.say(form, 'property', repr(name)[:80], kind, 'is', repr(value), 'instead of', repr(truth), '' if name in props else 'names: %r' % list(props))
            extra = [name for name, value in props.items() if value is not None and value != '' and name not in f['props'] and name not in self.own(form)]
            if extra:
                self.say(form, 'has other properties', extra)
            if not same_geometry(f['geometry'], geometry, form):
                self.say(form, 'geometry is', json.dumps(geometry), 'instead of', json.dumps(f['geometry']))

    def own(self, form):
        return {'layer'} if len(self.layers) > 1 else set()

    def items(self):
        read = json.load(open(self.folder + '/items.geojson'))['features']
        self.features('geojson', [(f['properties'].get(KEY), f['properties'], f['geometry']) for f in read], False)
        ids = [str(f['id']) for f in read]
        if len(set(ids)) != len(ids):
            self.say('ids are not unique', ids)
        own = [f.get('id') for layer in self.layers for f in layer['features']]
        texts = [str(one) for one in own]
        by = {str(f['properties'].get(KEY)): f['id'] for f in read}
        for layer in self.layers:
            for f in layer['features']:
                if 'id' in f and texts.count(str(f['id'])) == 1 and by.get(str(f['props'][KEY])) != f['id']:
                    self.say('id', repr(by.get(str(f['props'][KEY]))), 'instead of', repr(f['id']))

    def ogr(self, form, path):
        found = []
        source = ogr.Open(path)
        if source is None:
            return self.say(form, 'cannot be opened')
        aliases = {}
        if form == 'gpkg':
            db = sqlite3.connect(path)
            if db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'gpkg_data_columns'").fetchone()[0]:
                aliases = {(t, c): n for t, c, n in db.execute('SELECT table_name, column_name, name FROM gpkg_data_columns WHERE name IS NOT NULL')}
        for layer in source:
            definition = layer.GetLayerDefn()
            for feature in layer:
                props = {}
                for i in range(definition.GetFieldCount()):
                    field = definition.GetFieldDefn(i)
                    name = aliases.get((layer.GetName(), field.GetName()), field.GetName())
                    if not feature.IsFieldSetAndNotNull(i):
                        props[name] = None
                        continue
                    kind = field.GetType()
                    if field.GetSubType() == ogr.OFSTBoolean:
                        props[name] = feature.GetFieldAsInteger(i) != 0
                    elif kind in (ogr.OFTInteger, ogr.OFTInteger64):
                        props[name] = feature.GetFieldAsInteger64(i)
                    elif kind == ogr.OFTReal:
                        props[name] = feature.GetFieldAsDouble(i)
                    elif kind == ogr.OFTDate:
                        y, mo, d = feature.GetFieldAsDateTime(i)[:3]
                        props[name] = '%04d-%02d-%02d' % (y, mo, d)
                    elif kind == ogr.OFTDateTime:
                        y, mo, d, h, mi, s, tz = feature.GetFieldAsDateTime(i)
                        zone = '' if tz < 100 else '%s%02d:%02d' % ('-' if tz < 100 else '+', abs(tz - 100) * 15 // 60, abs(tz - 100) * 15 % 60)
                        # A file may have dates in a column of instants, since the format has no others.
                        props[name] = '%04d-%02d-%02dT%02d:%02d:%02d%s%s' % (y, mo, d, h, mi, int(s), ('.%03d' % round(s % 1 * 1000)) if s % 1 else '', zone)
                        if form == 'fgb' and props[name].endswith('T00:00:00'):
                            props[name] = props[name][:10]
                    else:
                        props[name] = feature.GetFieldAsString(i)
                g = feature.GetGeometryRef()
                geometry = None if g is None or g.IsEmpty() else json.loads(g.ExportToJson(['COORDINATE_PRECISION=15']))
                if geometry is not None and g.GetGeometryType() in (ogr.wkbTriangle,):
                    geometry['type'] = 'Polygon'
                found.append((props.get(KEY), props, geometry))
        self.features(form, found, 'mixed')

    def csv(self):
        rows = list(csv.reader(open(self.folder + '/made.csv', newline='', encoding='utf-8')))
        found = []
        names = rows[0]
        names = ['\0id'] + names[1:-1] + ['\0wkt']
        for row in rows[1:]:
            props = dict(zip(names, row))
            wkt = props.pop('\0wkt')
            props.pop('\0id')
            g = ogr.CreateGeometryFromWkt(wkt) if wkt else None
            geometry = None if g is None or g.IsEmpty() else json.loads(g.ExportToJson(['COORDINATE_PRECISION=15']))
            found.append((props.get(KEY), {k: None if v == '' else v for k, v in props.items()}, geometry))
        self.features('csv', found, True)


def check(folder):
    for name in sorted(os.listdir(folder)):
        one = Check(folder + '/' + name)
        if os.path.exists(one.folder + '/failed'):
            one.say('failed', open(one.folder + '/failed').read())
        else:
            for step in (one.items, lambda: one.ogr('gpkg', one.folder + '/made.gpkg'), lambda: one.ogr('fgb', one.folder + '/made.fgb'), one.csv):
                try:
                    step()
                except Exception as error:
                    one.say('cannot be compared', repr(error))
        for line in one.said[:8]:
            print(line)


if sys.argv[1] == 'write':
    write(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:])
else:
    check(sys.argv[2])
