-- The next step of a record names its transition so. Text of a record cannot match: JSON escapes its quotation marks.
UPDATE sandbox_record SET content = replace(content, '"verb":', '"transition":');
