-- +goose Up

-- A proposal has its price as text and its sizes as texts. Before, the price was a number and a
-- size an object.
UPDATE proposals SET input = json_set(input,
	'$.retailPrice', CAST(json_extract(input, '$.retailPrice') AS TEXT),
	'$.variants', (SELECT json_group_array(json_extract(value, '$.size')) FROM json_each(input, '$.variants')))
WHERE json_type(input, '$.retailPrice') <> 'text';

-- +goose Down
